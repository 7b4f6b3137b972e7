/**
 * Trust alone: 10,000 agents with 200,000 signed edges. How long the graph takes to read, what it takes to keep, and the
 * trust of one agent in all the others, with routes searched and with routes kept, over 3 and over 5 edges, for plain
 * questions and for questions with domains. Ways of asking take turns.
 */
import { keysOf, toBase64Url } from '../src/identity/keys.ts'
import { TRUST } from '../src/lenses/beliefs/tables.ts'
import { noteEdges } from '../src/lenses/beliefs/trust/agent-facts.ts'
import type { TrustQuestion, TrustRules } from '../src/lenses/beliefs/trust/edge.ts'
import { rowOf } from '../src/lenses/beliefs/trust/edge.ts'
import { putEdge, seal } from '../src/lenses/beliefs/trust/edges.ts'
import { TrustGraph } from '../src/lenses/beliefs/trust/trust-graph.ts'
import { AGENTS } from '../src/store/core-tables.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { seededUniform } from '../test/support/seeded.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { latency, type Row, timed } from './lib/report.ts'

export const name = 'trust'

const AGENT_COUNT = quick ? 1000 : 10_000
const EDGE_COUNT = 20 * AGENT_COUNT
const ROUNDS = quick ? 20 : 100
const WARM_UP = 20
/** As many as a question has candidates, more or less. */
const WEIGHED = 500
const NOW = Date.parse('2026-03-01T12:00:00Z')
const DAY = 86_400_000
const RULES: TrustRules = {
  defaultTrust: 0.1,
  sybilThreshold: 2,
  sybilCap: 0.3,
  sybilRule: 'first_hops',
  newAgentCap: false,
}
const HOLDERS = Array.from({ length: AGENT_COUNT }, (_, at) => agent(at))
const uniform = seededUniform(11)

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  const store = openSqliteStore({ file: folder.file('trust.db') })
  try {
    fill(store)
    const before = heap()
    const graph = new TrustGraph(store, RULES)
    const loaded = timed(() => graph.refresh())
    const grown = heap() - before
    const edges = graph.size.toLocaleString('en')
    return [
      { name: `read ${edges} edges, seals checked`, unit: 'ms', value: loaded },
      { name: 'memory of edges and agents, counted', unit: 'MB', value: graph.byteLength / 1e6 },
      { name: 'memory of edges and agents, as the process grew', unit: 'MB', value: grown / 1e6 },
      ...askings(graph),
      ...upkeep(store, graph),
    ]
  } finally {
    store.close()
  }
}

interface Way {
  readonly name: string
  readonly question: TrustQuestion
  readonly goal?: string
  readonly limit?: number
}

const PLAIN: TrustQuestion = { domains: [], domainTrustWeight: 0.5, maxHops: 3, damping: 0.7 }
const WAYS: readonly Way[] = [
  { name: '3 edges', question: PLAIN, goal: 'p50 <= 5 ms', limit: 5 },
  {
    name: '3 edges, two domains',
    question: { ...PLAIN, domains: ['code/rust', 'finance'] },
    goal: 'p50 <= 5 ms',
    limit: 5,
  },
  { name: '5 edges', question: { ...PLAIN, maxHops: 5 } },
]

function askings(graph: TrustGraph): readonly Row[] {
  const times = new Map<string, { cold: number[]; kept: number[]; holders: number[] }>()
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const { name, question } of WAYS) {
      const viewer = agent(Math.floor(uniform() * AGENT_COUNT))
      const made = graph.searches
      const cold = timed(() => graph.trustOf(viewer, question, NOW + round))
      if (graph.searches === made) continue
      const kept = timed(() => graph.trustOf(viewer, question, NOW + round + 1))
      const trust = graph.trustOf(viewer, question, NOW + round + 2)
      const holders = timed(() => {
        for (const holder of HOLDERS.slice(0, WEIGHED)) trust.of(holder)
      })
      if (round < WARM_UP) continue
      const list = times.get(name) ?? { cold: [], kept: [], holders: [] }
      times.set(name, list)
      list.cold.push(cold)
      list.kept.push(kept)
      list.holders.push(holders)
    }
  }
  const rows = WAYS.flatMap(({ name, goal, limit }): readonly Row[] => {
    const list = times.get(name) ?? { cold: [], kept: [], holders: [] }
    const cold = latency(`${name}, routes searched`, list.cold)
    return [
      limit === undefined ? cold : { ...cold, goal, ok: cold.value <= limit },
      latency(`${name}, routes kept`, list.kept),
      latency(`${name}, trust in ${WEIGHED} holders`, list.holders),
    ]
  })
  return [...rows, { name: 'memory with routes kept', unit: 'MB', value: graph.byteLength / 1e6 }]
}

/** A change by anybody while routes of hundreds are kept. */
function upkeep(store: Store, graph: TrustGraph): readonly Row[] {
  const writes: number[] = []
  const follows: number[] = []
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
  for (let round = 0; round < ROUNDS; round++) {
    const [owner, target] = [agent(round), agent(AGENT_COUNT - 1 - round)]
    const draft = { target, level: uniform(), domains: {}, basis: [], persistent: false, signed: null } as const
    writes.push(
      timed(() => store.write(NOW, w => putEdge(w, owner, { ...draft, exposure: 'private' }, { now: NOW, random }))),
    )
    follows.push(timed(() => graph.refresh()))
  }
  return [latency('sign and store an edge', writes), latency('follow a changed edge', follows)]
}

function fill(store: Store): void {
  const seed = new Uint8Array(32).fill(3)
  const keys = keysOf(seed)
  const signature = Buffer.alloc(64, 1).toString('base64url')
  store.write(NOW, writer => {
    for (const id of HOLDERS) {
      const facts = { label: null, created_at: 0, reputation: uniform() < 0.5 ? null : uniform() }
      const unset = { reputation_by_domain: null, trust_graph: null }
      writer.table(AGENTS).put({ id, did: keys.did, ...facts, ...unset })
      writer.setMeta(`agent_key:${id}`, toBase64Url(seed))
    }
  })
  // Sealed as if their signatures had been checked, which would take minutes.
  const random = (bytes: number) => new Uint8Array(bytes).fill(9)
  store.write(NOW, writer => {
    const all: { owner: string; target: string }[] = []
    const table = writer.table(TRUST)
    const seen = new Set<string>()
    while (all.length < EDGE_COUNT) {
      const [from, to] = [Math.floor(uniform() * AGENT_COUNT), Math.floor(uniform() * AGENT_COUNT)]
      if (from === to || seen.has(`${from} ${to}`)) continue
      seen.add(`${from} ${to}`)
      const [owner, target] = [agent(from), agent(to)]
      const edge = rowOf({
        ...{ owner, target, level: 0.3 + 0.7 * uniform(), basis: [], createdAt: 0, updatedAt: 0, signature },
        domains: uniform() < 0.1 ? { code: Math.round(uniform() * 100) / 100 } : {},
        persistent: false,
        exposure: 'private',
        lastUsed: NOW - Math.floor(uniform() * 300 * DAY),
        usedBefore: [],
      })
      table.put(seal(writer, edge, keys.did, random))
      all.push({ owner, target })
    }
    noteEdges(writer, all)
  })
}

function agent(at: number): string {
  return `agent-${at}`
}

function heap(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
