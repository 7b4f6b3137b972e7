/**
 * `/context/query` over 2,000 files, 20,000 concepts and 60,000 links, some concepts being linked to by thousands (CX-041).
 * Vectors are random, so that nothing is spent on a model: what is measured is the call.
 */
import { join } from 'node:path'
import type { Engine } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
import { Context } from '../src/lenses/context/context.ts'
import { type ConceptAt, putConcept, putEdge, putProvenance } from '../src/lenses/context/mind/rows.ts'
import { FILES } from '../src/lenses/context/tables.ts'
import { audience } from '../src/model/partition.ts'
import type { StoreWriter } from '../src/store/store.ts'
import { draftOf, wholeChunk } from '../src/testing/entries.ts'
import { seededUniform } from '../src/testing/seeded.ts'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { openToyEmbedder, TOY_KEY } from '../src/testing/toy-embedder.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'context-query'

const quick = Boolean(process.env['QUERENT_QUICK'])
const FILE_COUNT = quick ? 200 : 2_000
const CONCEPTS_A_FILE = 10
const LINKS_A_CONCEPT = 3
const HUBS = 50
const QUESTIONS = quick ? 40 : 200
const WARM_UP = 20

const WORDS =
  `auth user login service handler model store index query parse token file path cache graph node edge vector word
  page list item view state config error result value entry chunk`.split(/\s+/)

const KINDS: readonly { readonly name: string; readonly params: object; readonly p95: number }[] = [
  { name: 'by name', params: { depth: 2 }, p95: 200 },
  { name: 'exact', params: { mode: 'exact', depth: 2 }, p95: 200 },
  { name: 'hybrid', params: { mode: 'hybrid', depth: 2 }, p95: 500 },
  {
    name: 'hybrid, weighted, passages',
    params: { mode: 'hybrid', depth: 2, rank: 'weighted', snippet: 'passage', limit: 20 },
    p95: 500,
  },
  { name: 'hybrid, by closeness, packed', params: { mode: 'hybrid', rank: 'closeness', max_tokens: 4000 }, p95: 500 },
]

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  await using engine = await openEngine({
    home: join(folder.path, '.querent'),
    embedder: openToyEmbedder(),
    background: false,
  })
  const uniform = seededUniform(7)
  await fill(engine, uniform)
  const context = new Context(engine.host('context'))
  const rows: Row[] = []
  for (const { name: kind, params, p95 } of KINDS) {
    const samples: number[] = []
    for (let i = 0; i < WARM_UP + QUESTIONS; i++) {
      const query = `${pick(WORDS, uniform)} ${pick(WORDS, uniform)}`
      const before = performance.now()
      const { status } = await context.call('/context/query', { query, ...params })
      if (status !== 'success') throw new Error(`${kind}: the call failed`)
      if (i >= WARM_UP) samples.push(performance.now() - before)
    }
    const [p50, reached, p99] = [0.5, 0.95, 0.99].map(share => percentile(samples, share)) as [number, number, number]
    rows.push({ name: kind, unit: 'ms', value: p50, p50, p99, goal: `p95 < ${p95} ms`, ok: reached < p95 })
  }
  const links = engine.host('context').index('links')
  const rebuilt = timed(() => links.rebuild(engine.host('context').store))
  return [
    ...rows,
    { name: 'links in memory', unit: 'MB', value: links.byteLength / 1e6 },
    { name: 'rebuild links', unit: 'ms', value: rebuilt },
  ]
}

async function fill(engine: Engine, uniform: () => number): Promise<void> {
  const host = engine.host('context')
  const context = new Context(host)
  for (const path of ['/body/init', '/mind/init']) await context.call(path)
  host.store.write(host.clock.now(), writer => {
    const concepts = Array.from({ length: FILE_COUNT }, (_, at) => putFile(writer, at, uniform)).flat()
    for (let i = 0; i < concepts.length * LINKS_A_CONCEPT; i++) {
      const source = pick(concepts, uniform)
      const target = pick(uniform() < 0.05 ? concepts.slice(0, HUBS) : concepts, uniform).id
      putEdge(writer, { source, target, relation: 'CALLS', weight: 0.5 })
    }
    giveVectors(writer, uniform)
  })
}

function putFile(writer: StoreWriter, at: number, uniform: () => number): ConceptAt[] {
  const url = `file:///project/src/${pick(WORDS, uniform)}/${pick(WORDS, uniform)}-${at}.ts`
  const lines = Array.from({ length: CONCEPTS_A_FILE * 6 }, (_, line) => {
    return `const ${pick(WORDS, uniform)}${line} = ${pick(WORDS, uniform)}(${pick(WORDS, uniform)})`
  })
  const draft = draftOf({ id: url, kind: 'code', origin: url, content: lines.join('\n') })
  const { key: entry } = writer.put(draft, wholeChunk(draft))
  const hash = String(at)
  writer.table(FILES).put({ entry, url, hash, size: draft.content.length, mtime: 0, indexed_hash: hash })
  return Array.from({ length: CONCEPTS_A_FILE }, (_, n) => {
    const called = `${pick(WORDS, uniform)}${capital(pick(WORDS, uniform))}${capital(pick(WORDS, uniform))}${n}`
    const place = { url, startLine: n * 6 + 1, endLine: n * 6 + 6 }
    const made = putConcept(
      writer,
      { name: called, type: 'Function', ...place, signature: `function ${called}(): void` },
      { audience: audience('private'), now: 0 },
    )
    putProvenance(writer, made, url)
    return made
  })
}

function giveVectors(writer: StoreWriter, uniform: () => number): void {
  const { dimensions } = openToyEmbedder().model
  for (let chunks = writer.chunksWithoutVector(TOY_KEY, 2_000); chunks.length > 0; ) {
    const vectors = chunks.map(({ key: chunk }) => {
      const vector = Float32Array.from({ length: dimensions }, () => uniform() - 0.5)
      const length = Math.hypot(...vector)
      return { chunk, vector: vector.map(part => part / length) }
    })
    writer.putVectors(TOY_KEY, vectors)
    chunks = writer.chunksWithoutVector(TOY_KEY, 2_000)
  }
}

function pick<T>(from: readonly T[], uniform: () => number): T {
  return from[Math.floor(uniform() * from.length)] as T
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
