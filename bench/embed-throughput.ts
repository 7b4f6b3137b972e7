/** How fast the local model embeds: passages a second, time of one question, time from opening to ready. */
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
// biome-ignore lint/correctness/useImportExtensions: the file is a script with types beside it, and biome wants .mjs.mts
import { buildModel } from '../scripts/build-model.mjs'
import type { Embedder, RuntimeName } from '../src/embed/embedder.ts'
import { openLocalEmbedder } from '../src/embed/local-embedder.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row, timedAsync } from './lib/report.ts'

export const name = 'embed-throughput'

/** WebAssembly is some five times slower and needs no more samples. */
const PASSAGES: Readonly<Record<RuntimeName, number>> = quick ? { native: 300, wasm: 60 } : { native: 2_000, wasm: 200 }
const QUESTIONS = quick ? 50 : 300
const STARTS = quick ? 3 : 7
/** About 200 tokens of English. */
const WORDS_A_CHUNK = 150
const BATCH = 100

const root = fileURLToPath(new URL('..', import.meta.url))
const collections = ['scifact', 'cranfield'].map(name => `${root}../shared/data/${name}/docs.jsonl.gz`)

export async function run(): Promise<readonly Row[]> {
  const { folder } = buildModel()
  const chunks = readChunks(PASSAGES.native)
  const rows: Row[] = []
  for (const runtime of ['native', 'wasm'] as const) {
    rows.push(await measureReady(runtime, folder))
    const embedder = await openLocalEmbedder({ folder, runtime })
    rows.push(await measureQuestions(runtime, embedder, chunks))
    rows.push(await measurePassages(runtime, embedder, chunks.slice(0, PASSAGES[runtime])))
    await embedder.close()
  }
  return rows
}

async function measurePassages(runtime: RuntimeName, embedder: Embedder, chunks: readonly string[]): Promise<Row> {
  const before = process.cpuUsage()
  const ms = await timedAsync(async () => {
    for (let from = 0; from < chunks.length; from += BATCH) {
      await embedder.embed(chunks.slice(from, from + BATCH), 'passage')
    }
  })
  const { user, system } = process.cpuUsage(before)
  const cpuMs = ((user + system) / 1000 / chunks.length).toFixed(1)
  const note = `${chunks.length} chunks of ${WORDS_A_CHUNK} words, ${cpuMs} ms of processor time each`
  return { name: `passages, ${runtime}`, unit: 'chunks/s', value: (chunks.length / ms) * 1000, note }
}

/** The first sentence of a chunk stands for a question. */
async function measureQuestions(runtime: RuntimeName, embedder: Embedder, chunks: readonly string[]): Promise<Row> {
  const questions = chunks.slice(0, QUESTIONS).map(chunk => chunk.split(/[.?!] /)[0] as string)
  await embedder.embed(questions.slice(0, 10), 'query')
  const samples: number[] = []
  for (const question of questions) samples.push(await timedAsync(() => embedder.embed([question], 'query')))
  return latency(`one question, ${runtime}`, samples)
}

/** In a fresh process each, as a command line has it: from opening to the first vector. */
async function measureReady(runtime: RuntimeName, folder: string): Promise<Row> {
  const program = `import { openLocalEmbedder } from ${JSON.stringify(new URL('../src/embed/local-embedder.ts', import.meta.url).href)}
    const start = performance.now()
    const embedder = await openLocalEmbedder({ folder: ${JSON.stringify(folder)}, runtime: '${runtime}' })
    await embedder.embed(['a question'], 'query')
    console.log(performance.now() - start)`
  const samples: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    samples.push(Number(stdout))
  }
  return latency(`opening to first vector, ${runtime}`, samples)
}

/** Abstracts of test collections where they lie beside the repository, else this repository's own prose and code. */
function readChunks(count: number): readonly string[] {
  const chunks: string[] = []
  for (const text of readTexts()) {
    const words = text.split(/\s+/)
    // Whole chunks only: what is left of a text would make the mean chunk shorter.
    for (let end = WORDS_A_CHUNK; end <= words.length; end += WORDS_A_CHUNK) {
      chunks.push(words.slice(end - WORDS_A_CHUNK, end).join(' '))
    }
  }
  return chunks.slice(0, count)
}

function readTexts(): readonly string[] {
  const present = collections.filter(file => existsSync(file))
  if (present.length === 0) {
    return globSync(['*.md', 'docs/**/*.md', 'src/**/*.ts'], { cwd: root }).map(file =>
      readFileSync(`${root}${file}`, 'utf8'),
    )
  }
  const lines = present.flatMap(file => gunzipSync(readFileSync(file)).toString().trim().split('\n'))
  return lines.map(line => (JSON.parse(line) as { text: string }).text)
}
