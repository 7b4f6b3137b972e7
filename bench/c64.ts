/**
 * The lens c64 on its labelled questions (EN-080): mean reciprocal rank, nDCG@10 and recall with and without enrichment, with
 * the model and by words alone; and what enrichment costs (EN-079). The first run embeds the facts, half a minute.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Embedder } from '../src/embed/embedder.ts'
import { enrich } from '../src/lenses/c64/enrichment/enrich.ts'
import { c64Domain } from '../src/lenses/c64/plugins.ts'
import { embedC64, openC64 } from '../src/openings/c64.ts'
import { type AskedQuestion, askAll, labelledQuestions, qualityOf } from './lib/c64-quality.ts'
import { cacheOnDisk } from './lib/cached-embedder.ts'
import { localEmbedder } from './lib/local-embedder.ts'
import { percentile, type Row, timed } from './lib/report.ts'

export const name = 'c64'

const MIN_MRR = 0.8
const MAX_ENRICH_MS = 5
const MAX_START_MS = 150

export async function run(): Promise<readonly Row[]> {
  const embedder = cacheOnDisk(await localEmbedder())
  return [...(await quality('', embedder)), ...(await quality('words alone, ', 'none')), ...costs()]
}

async function quality(label: string, embedder: Embedder | 'none'): Promise<readonly Row[]> {
  await using c64 = await openC64({ store: 'memory', embedder, background: false, onlyLenses: ['c64'] })
  await embedC64(c64.engine)
  const enriched = await askAll(c64, false)
  const raw = await askAll(c64, true)
  const rawMrr = qualityOf(raw).mrr
  const { mrr } = qualityOf(enriched)
  const goal = `>= ${MIN_MRR}, > ${rawMrr.toFixed(3)} (raw)`
  const rows = rowsOf(`${label}enriched`, enriched)
  const [first, ...rest] = rows as [Row, ...Row[]]
  const judged = embedder === 'none' ? first : { ...first, goal, ok: mrr >= MIN_MRR && mrr > rawMrr }
  return [judged, ...rest, ...rowsOf(`${label}raw`, raw)]
}

function rowsOf(label: string, asked: readonly AskedQuestion[]): readonly Row[] {
  const all = qualityOf(asked)
  const parts = [
    ...(['named', 'plain'] as const).map(kind => [kind, asked.filter(one => one.kind === kind)] as const),
    ...(['tuned on', 'held out'] as const).map(part => [part, asked.filter(one => one.part === part)] as const),
  ]
  return [
    { name: `${label}, MRR`, unit: '', value: all.mrr, note: `${all.questions} questions` },
    { name: `${label}, nDCG@10`, unit: '', value: all.ndcg },
    { name: `${label}, Recall@15`, unit: '', value: all.recall },
    ...parts.map(([part, of]) => ({ name: `${label}, MRR, ${part}`, unit: '', value: qualityOf(of).mrr })),
  ]
}

/** Of one question after a warm-up, 95th percentile; and of a fresh process up to its first enriched question. */
function costs(): readonly Row[] {
  const domain = c64Domain()
  const questions = labelledQuestions().map(({ question }) => question)
  for (const question of questions) enrich(question, domain)
  const times = Array.from({ length: 20 }, () => questions)
    .flat()
    .map(question => timed(() => enrich(question, domain)))
  const p95 = percentile(times, 0.95)
  const starts = Array.from({ length: 5 }, startMs)
  const start = percentile(starts, 0.5)
  return [
    {
      ...{ name: 'enrich one question', unit: 'ms', value: percentile(times, 0.5), p99: percentile(times, 0.99) },
      ...{ goal: `p95 <= ${MAX_ENRICH_MS} ms`, ok: p95 <= MAX_ENRICH_MS, note: `p95 ${p95.toFixed(3)}` },
    },
    {
      ...{ name: 'start: load plugins and facts, enrich once', unit: 'ms', value: start },
      note: isBuilt ? 'in a fresh process, as built' : 'in a fresh process, from source: no verdict',
      ...(isBuilt ? { goal: `<= ${MAX_START_MS} ms`, ok: start <= MAX_START_MS } : {}),
    },
  ]
}

const START = `const begin = performance.now()
const [folder, extension] = process.argv.slice(1)
const { c64Domain } = await import(folder + 'domain' + extension)
const { enrich } = await import(folder + 'enrichment/enrich' + extension)
enrich('What does POKE 53280, 14 do?', c64Domain())
console.log(performance.now() - begin)`

/** As installed, where it was built; from source Node strips the types of some fifty files first. */
const BUILT = fileURLToPath(new URL('../dist/lenses/c64/', import.meta.url))
const isBuilt = existsSync(`${BUILT}domain.js`)

function startMs(): number {
  const folder = isBuilt ? BUILT : fileURLToPath(new URL('../src/lenses/c64/', import.meta.url))
  const { stdout } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', START, folder, isBuilt ? '.js' : '.ts'],
    { encoding: 'utf8' },
  )
  return Number(stdout)
}
