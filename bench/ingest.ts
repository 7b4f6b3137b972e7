/**
 * Files into a store by `add`, without embedding: Markdown as people write it, and this repository's own code. And how long a server takes to
 * answer from a file that has changed.
 */
import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AddReport } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
import { startServer } from '../test/support/serving.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import type { Row } from './lib/report.ts'
import { ZipfTexts } from './lib/text-data.ts'

export const name = 'ingest'

const DOCUMENTS = quick ? 200 : 2000
const GOAL = 100
const root = fileURLToPath(new URL('..', import.meta.url))

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  const documents = writeDocuments(folder.file('documents'))
  const code = copyCode(folder.file('code'))
  return [
    ...(await measure('Markdown', folder.path, documents)),
    ...(await measure('TypeScript', folder.path, code)),
    await followed(folder.path),
  ]
}

const FOLLOWED = quick ? 50 : 500
const CHANGES = quick ? 3 : 31
/** Milliseconds. */
const MAX_DELAY = 2_000
const ASK_EVERY = 20

/** One file after the other is written with a new word, and the server asked for it until it answers. */
async function followed(folder: string): Promise<Row> {
  const documents = writeDocuments(join(folder, 'followed'), FOLLOWED)
  const env = { QUERENT_HOME: join(folder, 'followed-home'), QUERENT_EMBEDDER: 'none' }
  const server = await startServer(['serve', documents.path], folder, env)
  const call = async <T>(operation: string, input: object) => {
    const response = await fetch(`${server.url}/v1/ops/${operation}`, { method: 'POST', body: JSON.stringify(input) })
    return (await response.json()) as T
  }
  const found = async (text: string) =>
    (await call<{ readonly items: readonly unknown[] }>('query', { text })).items.length > 0
  const delays: number[] = []
  try {
    while ((await call<{ readonly entries: number }>('status', {})).entries < FOLLOWED) await sleep(ASK_EVERY)
    for (let change = 0; change < CHANGES; change++) {
      // Not in step with the server's looks.
      await sleep(Math.random() * MAX_DELAY)
      const word = `novelty${change}x`
      writeFileSync(join(documents.path, `document-${change}.md`), `# Document\n\nIt says ${word}.\n`)
      const written = performance.now()
      while (!(await found(word))) await sleep(ASK_EVERY)
      delays.push(performance.now() - written)
    }
  } finally {
    await server.end()
  }
  delays.sort((a, b) => a - b)
  const median = delays[delays.length >> 1] as number
  const note = `${FOLLOWED} files, ${CHANGES} changes; ${Math.round(delays.at(-1) as number)} ms at most`
  const name = 'a changed file is answered by `serve`, median'
  return { name, unit: 'ms', value: median, goal: `<= ${MAX_DELAY}`, ok: median <= MAX_DELAY, note }
}

interface Files {
  readonly path: string
  readonly count: number
}

async function measure(what: string, folder: string, files: Files): Promise<readonly Row[]> {
  const home = join(folder, `${what}-home`)
  await using engine = await openEngine({ home, create: true, embedder: 'none', background: false })
  const add = async (): Promise<AddReport & { seconds: number }> => {
    const started = performance.now()
    const report = await engine.add({ paths: [files.path] })
    return { ...report, seconds: (performance.now() - started) / 1000 }
  }
  const first = await add()
  const again = await add()
  const rate = files.count / first.seconds
  return [
    {
      name: `${what}, new`,
      unit: 'files/s',
      value: rate,
      goal: `>= ${GOAL}`,
      ok: rate >= GOAL,
      note: `${files.count} files`,
    },
    { name: `${what}, new`, unit: 'chunks/s', value: first.chunks / first.seconds, note: `${first.chunks} chunks` },
    { name: `${what}, nothing changed`, unit: 'files/s', value: files.count / again.seconds },
  ]
}

/** Four sections of three paragraphs each, about 800 words. */
function writeDocuments(path: string, count = DOCUMENTS): Files {
  mkdirSync(path)
  const texts = new ZipfTexts(3)
  const section = () => `## ${texts.prose(4)}\n\n${[60, 80, 60].map(words => texts.prose(words)).join('.\n\n')}.\n`
  for (let at = 0; at < count; at++) {
    const text = `# ${texts.prose(5)}\n\n${Array.from({ length: 4 }, section).join('\n')}`
    writeFileSync(join(path, `document-${at}.md`), text)
  }
  return { path, count }
}

/** Several copies, that there be enough of it. */
function copyCode(path: string): Files {
  const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'scripts/*.ts'], { cwd: root })
  const copies = Math.ceil(DOCUMENTS / 2 / files.length)
  for (let copy = 0; copy < copies; copy++) {
    for (const file of files) {
      const to = join(path, `copy-${copy}`, file)
      mkdirSync(dirname(to), { recursive: true })
      cpSync(join(root, file), to)
    }
  }
  return { path, count: files.length * copies }
}
