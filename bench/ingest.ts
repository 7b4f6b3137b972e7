/** Files into a store by `add`, without embedding: Markdown as people write it, and this repository's own code. */
import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AddReport } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
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
  return [...(await measure('Markdown', folder.path, documents)), ...(await measure('TypeScript', folder.path, code))]
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
function writeDocuments(path: string): Files {
  mkdirSync(path)
  const texts = new ZipfTexts(3)
  const section = () => `## ${texts.prose(4)}\n\n${[60, 80, 60].map(words => texts.prose(words)).join('.\n\n')}.\n`
  for (let at = 0; at < DOCUMENTS; at++) {
    const text = `# ${texts.prose(5)}\n\n${Array.from({ length: 4 }, section).join('\n')}`
    writeFileSync(join(path, `document-${at}.md`), text)
  }
  return { path, count: DOCUMENTS }
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
