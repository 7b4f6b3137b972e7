/**
 * `/context/query` over 2,000 files, 20,000 concepts and 60,000 links, some concepts being linked to by thousands (CX-041).
 * Vectors are random, so that nothing is spent on a model: what is measured is the call.
 */
import { join } from 'node:path'
import { openEngine } from '../src/engine/open.ts'
import { Context } from '../src/lenses/context/context.ts'
import { seededUniform } from '../src/testing/seeded.ts'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { openToyEmbedder } from '../src/testing/toy-embedder.ts'
import { CODE_BASE_FILES, fillCode, randomQuestion } from './lib/random-code.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'context-query'

const quick = Boolean(process.env['QUERENT_QUICK'])
const FILE_COUNT = quick ? 200 : CODE_BASE_FILES
const QUESTIONS = quick ? 40 : 200
const WARM_UP = 20

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
  await fillCode(engine, FILE_COUNT, uniform)
  const context = new Context(engine.host('context'))
  const rows: Row[] = []
  for (const { name: kind, params, p95 } of KINDS) {
    const samples: number[] = []
    for (let i = 0; i < WARM_UP + QUESTIONS; i++) {
      const query = randomQuestion(uniform)
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
