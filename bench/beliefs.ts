/**
 * Whole queries to the lens `beliefs` over 100,000 beliefs of 10,000 agents with 200,000 trust edges, exact, with transitive
 * trust over three hops, asked by many agents: text and list mode, with and without explanations, filters, diversity,
 * operators. The time of the embedder is not in it (vectors are generated). BQ-178 to BQ-180.
 */
import { modelKey } from '../src/embed/embedder.ts'
import type { KernelVectorIndex } from '../src/index/vectors.ts'
import { BeliefColumns } from '../src/lenses/beliefs/columns/columns.ts'
import type { QueryResult } from '../src/lenses/beliefs/model.ts'
import { runQuery } from '../src/lenses/beliefs/paging/reading.ts'
import { parseRequest } from '../src/lenses/beliefs/schema/faults.ts'
import { queryInput, toQuery } from '../src/lenses/beliefs/schema/query.ts'
import { stateOf } from '../src/lenses/beliefs/state.ts'
import { AGENT_COUNT, agentName, BELIEFS, beliefsHome } from './lib/beliefs-store.ts'
import { BeliefWrites } from './lib/beliefs-writes.ts'
import { estimateMemory } from './lib/memory-estimate.ts'
import { quick } from './lib/quick.ts'
import { latency, percentile, type Row, timed, timedAsync } from './lib/report.ts'
import { heldOut } from './lib/stand-in.ts'

export const name = 'beliefs'

const ROUNDS = quick ? 40 : 200
/** Each requester has sent queries before, and the use of its edges was noted: what first queries cost is a row of its own. */
const WARM_UP = quick ? 10 : 300
const REQUESTERS = 50
const NEW_REQUESTERS = quick ? 10 : 100
const SECONDS = quick ? 1 : 5
const P50 = 5
const P99 = 25
const PER_SECOND = 300

interface Way {
  readonly name: string
  /** Against the goals of a whole query. */
  readonly judged?: boolean
  query(round: number): object
}

const EVERYWHERE = { scope: { local: true, federated: true, network: true } }

const WAYS: readonly Way[] = [
  { name: 'text', judged: true, query: round => ({ semantic: textOf(round), options: EVERYWHERE }) },
  {
    name: 'text, explained',
    judged: true,
    query: round => ({ semantic: textOf(round), options: { ...EVERYWHERE, include_explanation: true } }),
  },
  {
    name: 'text, query domains, high confidence, one domain',
    judged: true,
    query: round => ({
      semantic: textOf(round),
      filters: ['high_confidence', { domains_include: ['science'] }],
      context: { query_domains: ['science/biology'] },
      options: EVERYWHERE,
    }),
  },
  { name: 'list mode, of trusted', query: () => ({ semantic: '', filters: 'from_trusted', options: EVERYWHERE }) },
  {
    name: 'text, diverse',
    query: round => ({
      semantic: textOf(round),
      options: { ...EVERYWHERE, diversity: { enabled: true, max_per_holder: 2, min_semantic_distance: 0.2 } },
    }),
  },
  {
    name: 'text, own confidence weights',
    query: round => ({
      semantic: textOf(round),
      context: { confidence_weights: { corroboration: 0.5 } },
      options: EVERYWHERE,
    }),
  },
  {
    name: 'text, approximate',
    query: round => ({ semantic: textOf(round), options: { ...EVERYWHERE, approximate: true } }),
  },
  {
    name: 'text, 1,000 results',
    query: round => ({ semantic: textOf(round), options: { ...EVERYWHERE, limit: 1000 } }),
  },
]

export async function run(): Promise<readonly Row[]> {
  using home = await beliefsHome()
  await using engine = await home.open()
  const host = engine.host('beliefs')
  const state = stateOf(host)
  const ask = (round: number, query: object, at: number = (round * 7) % REQUESTERS) => {
    const requester = agentName(at)
    const checked = toQuery(parseRequest(queryInput, query), { id: requester, trustGraph: null })
    return runQuery(state, checked, { requester, signal: new AbortController().signal })
  }
  const rows: Row[] = []
  rows.push({
    name: 'first query of a process, all read',
    unit: 'ms',
    value: await timedAsync(() => ask(0, (WAYS[0] as Way).query(0))),
  })
  const kernel = host.index(`vectors-${modelKey(home.embedder.model)}`) as KernelVectorIndex
  const visible = state.requester(agentName(0)).accessScope
  const floors = Array.from({ length: 60 }, (_, at) => timed(() => kernel.sweepDistances(heldOut(at), visible)))
  const floor = percentile(floors, 0.5)
  rows.push({ name: 'floor: sign-code distances of what one agent sees', unit: 'ms', value: floor })
  for (const way of WAYS) rows.push(await timeWay(way, ask, floor))
  rows.push(await recall(ask))
  rows.push(await perSecond(ask))
  rows.push(
    await behindWrites(ask, new BeliefWrites(engine, modelKey(home.embedder.model), REQUESTERS + NEW_REQUESTERS)),
  )
  rows.push(await firstQuestions(ask))
  const columns = columnBytes(new BeliefColumns(engine.host('beliefs').store))
  rows.push({ name: 'columns of beliefs in memory', unit: 'B a belief', value: columns / BELIEFS })
  rows.push({
    name: 'trust graph in memory',
    unit: 'MB',
    value: state.trust.byteLength / 2 ** 20,
    note: `${AGENT_COUNT} agents`,
  })
  rows.push(...estimates(columns / BELIEFS))
  return rows
}

/** By how much the process grows when it reads them. */
function columnBytes(columns: BeliefColumns): number {
  const before = heapBytes()
  columns.refresh()
  return heapBytes() - before
}

function heapBytes(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** What a billion would take (BQ-181): as the seed has it, and as this index keeps them. */
function estimates(columns: number): readonly Row[] {
  const count = 1e9
  const kept = { dimensions: 384, bytesPerComponent: 1, payload: 64 + columns, count }
  return [
    {
      what: '384 components in f32, 64 links',
      ...estimateMemory({ dimensions: 384, bytesPerComponent: 4, links: 64, count }),
    },
    {
      what: '1,536 components in f32, 64 links',
      ...estimateMemory({ dimensions: 1536, bytesPerComponent: 4, links: 64, count }),
    },
    { what: 'this index: 384 in int8, codes and columns', ...estimateMemory(kept) },
  ].map(({ what, bytesPerBelief, totalBytes }) => ({
    name: `estimate for a billion beliefs: ${what}`,
    unit: 'B a belief',
    value: bytesPerBelief,
    note: `${(totalBytes / 1e12).toFixed(1)} TB in all; the seed says 4 KB and 4 TB`,
  }))
}

type Ask = (round: number, query: object, requester?: number) => Promise<QueryResult>

/** Of the first hundred results of exact queries, the share that approximate ones have among theirs (BQ-043). */
async function recall(ask: Ask): Promise<Row> {
  const first = async (round: number, more: object) => {
    const options = { ...EVERYWHERE, limit: 100, ...more }
    const { beliefs } = await ask(round, { semantic: textOf(round), options })
    return beliefs.map(({ belief }) => belief.id)
  }
  let [found, all] = [0, 0]
  for (let round = 0; round < ROUNDS / 4; round++) {
    const approximate = new Set(await first(round, { approximate: true }))
    const exact = await first(round, {})
    found += exact.filter(id => approximate.has(id)).length
    all += exact.length
  }
  return {
    name: 'text, approximate: recall of 100',
    unit: 'of 1',
    value: found / all,
    goal: '>= 0.99',
    ok: found >= 0.99 * all,
  }
}

/** Of agents that have not asked yet: who sees what, trust in everybody, and what all beliefs stand at are worked out. */
async function firstQuestions(ask: Ask): Promise<Row> {
  const times: number[] = []
  for (let round = 0; round < NEW_REQUESTERS; round++) {
    times.push(await timedAsync(() => ask(round, (WAYS[0] as Way).query(round), REQUESTERS + round)))
  }
  return latency('text, the first query of a requester', times)
}

/** What was written is put into all that is kept between questions: the next question pays for it. */
async function behindWrites(ask: Ask, writes: BeliefWrites): Promise<Row> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    writes.next()
    times.push(await timedAsync(() => ask(round, (WAYS[0] as Way).query(round))))
  }
  const note = 'a public belief, an edge of trust or a private belief of another agent, in turn'
  return { ...latency('text, behind each write', times), note }
}

async function timeWay(way: Way, ask: Ask, floor: number): Promise<Row> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const query = way.query(round)
    const time = await timedAsync(() => ask(round, query))
    if (round >= WARM_UP) times.push(time)
  }
  const asked = latency(way.name, times)
  const { p50, p99 } = asked
  const row = { ...asked, ratioToFloor: p50 / floor }
  if (way.judged !== true) return row
  return { ...row, goal: `p50 <= ${P50} ms, p99 <= ${P99} ms (seed: 10 and 50)`, ok: p50 <= P50 && p99 <= P99 }
}

/** After as long again, until the use of all edges is noted: after that it is once a minute each. */
async function perSecond(ask: Ask): Promise<Row> {
  const text = WAYS[0] as Way
  let count = 0
  const askFor = async (seconds: number) => {
    const start = performance.now()
    for (; performance.now() - start < seconds * 1000; count++) await ask(count, text.query(count))
    return (performance.now() - start) / 1000
  }
  await askFor(SECONDS)
  count = 0
  const seconds = await askFor(SECONDS)
  const value = count / seconds
  return { name: 'queries in one process', unit: 'q/s', value, goal: `>= ${PER_SECOND} q/s`, ok: value >= PER_SECOND }
}

/** A fresh one each time, which the stand-in embedder gives a vector at once. */
function textOf(round: number): string {
  return `question ${round}`
}
