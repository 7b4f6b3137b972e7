/**
 * `/context/query` over 2,000 files, 20,000 concepts and 60,000 links, some concepts being linked to by thousands (CX-041).
 * Vectors are random, so that nothing is spent on a model: what is measured is the call.
 */
import { join } from 'node:path'
import { openEngine } from '../src/engine/open.ts'
import { Context } from '../src/lenses/context/operations.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { openToyEmbedder } from '../test/support/toy-embedder.ts'
import { quick } from './lib/quick.ts'
import { CODE_BASE_FILES, fillCode, randomQuestion } from './lib/random-code.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'context-query'

const FILE_COUNT = quick ? 200 : CODE_BASE_FILES
const QUESTIONS = quick ? 40 : 200
const WARM_UP = 20

/** Defaults of the command. */
const COMMAND = { mode: 'hybrid', rank: 'relevance', snippet: 'passage' }
const EVERYTHING = { ...COMMAND, depth: 2, limit: 50, explain: true, max_tokens: 10_000 }

interface Kind {
  readonly name: string
  readonly params: object
  /** Of a question; default 2. */
  readonly words?: number
  /** At most, in ms. */
  readonly goal: { readonly p95: number } | { readonly p50: number; readonly p99: number }
}

const KINDS: readonly Kind[] = [
  { name: 'by name', params: { depth: 2 }, goal: { p95: 200 } },
  { name: 'exact', params: { mode: 'exact', depth: 2 }, goal: { p95: 200 } },
  { name: 'hybrid', params: { mode: 'hybrid', depth: 2 }, goal: { p95: 500 } },
  {
    name: 'hybrid, weighted, passages',
    params: { mode: 'hybrid', depth: 2, rank: 'weighted', snippet: 'passage', limit: 20 },
    goal: { p95: 500 },
  },
  { name: 'by relevance, as the command asks', params: COMMAND, goal: { p50: 10, p99: 50 } },
  { name: 'by relevance, packed', params: { ...COMMAND, max_tokens: 4000 }, goal: { p50: 10, p99: 50 } },
  { name: 'by relevance, one word, 50 at depth 2, packed', params: EVERYTHING, words: 1, goal: { p50: 50, p99: 50 } },
  { name: 'by relevance, 50 at depth 2, packed', params: EVERYTHING, goal: { p50: 50, p99: 50 } },
  { name: 'by relevance, 8 words, 50 at depth 2, packed', params: EVERYTHING, words: 8, goal: { p50: 50, p99: 50 } },
]

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  await using engine = await openEngine({
    home: join(folder.path, '.querent'),
    embedder: openToyEmbedder(),
    background: false,
  })
  const uniform = seededUniform(7)
  await fillCode(engine, FILE_COUNT, uniform)
  const context = new Context(engine.host('context'))
  const rows: Row[] = []
  for (const { name: kind, params, words, goal } of KINDS) {
    const samples: number[] = []
    for (let i = 0; i < WARM_UP + QUESTIONS; i++) {
      const query = randomQuestion(uniform, words)
      const before = performance.now()
      const { status } = await context.call('/context/query', { query, ...params })
      if (status !== 'success') throw new Error(`${kind}: the call failed`)
      if (i >= WARM_UP) samples.push(performance.now() - before)
    }
    rows.push(rowOf(kind, samples, goal))
  }
  const links = engine.host('context').index('links')
  const rebuilt = timed(() => links.rebuild(engine.host('context').store))
  return [
    ...rows,
    { name: 'links in memory', unit: 'MB', value: links.byteLength / 1e6 },
    { name: 'rebuild links', unit: 'ms', value: rebuilt },
  ]
}

function rowOf(called: string, samples: readonly number[], goal: Kind['goal']): Row {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(share => percentile(samples, share)) as [number, number, number]
  const row = { name: called, unit: 'ms', value: p50, p50, p99 }
  if ('p95' in goal) return { ...row, goal: `p95 < ${goal.p95} ms`, ok: p95 < goal.p95 }
  return { ...row, goal: `p50 <= ${goal.p50} ms, p99 <= ${goal.p99} ms`, ok: p50 <= goal.p50 && p99 <= goal.p99 }
}
