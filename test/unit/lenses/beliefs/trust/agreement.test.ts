/** The graph with its maps, kept routes and logs against the plain reading of the rows, over random histories. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { TRUST } from '../../../../../src/lenses/beliefs/tables.ts'
import { noteEdges } from '../../../../../src/lenses/beliefs/trust/agent-facts.ts'
import type { TrustQuestion, TrustRules } from '../../../../../src/lenses/beliefs/trust/edge.ts'
import { removeEdge, touchEdges } from '../../../../../src/lenses/beliefs/trust/edges.ts'
import { TrustGraph } from '../../../../../src/lenses/beliefs/trust/trust-graph.ts'
import { openMemoryStore, openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { PATIENCE_MS } from '../../../../support/patience.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { oracleOf } from './oracle.ts'
import { DAY, host, NOW, trust, unhost } from './world.ts'

const NAMES = ['owner', 'a', 'b', 'c', 'd', 'e', 'f', 'g']
const FULL = process.env['QUERENT_LONG'] === '1'

type Step =
  | {
      readonly do: 'trust'
      readonly owner: string
      readonly target: string
      readonly level: number
      readonly more: object
    }
  | { readonly do: 'remove' | 'touch' | 'spoil'; readonly owner: string; readonly target: string }
  | {
      readonly do: 'host'
      readonly agent: string
      readonly age: number
      readonly reputation: number | null
      readonly byDomain: object
    }
  | { readonly do: 'unhost'; readonly agent: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'ask'; readonly viewer: string; readonly question: TrustQuestion; readonly back: number }

const name = fc.constantFrom(...NAMES)
const level = fc.oneof(
  fc.constantFrom(0, 0.04, 0.05, 0.1, 0.35, 0.65, 0.85, 0.9, 0.91, 1),
  fc.integer({ min: 0, max: 1000 }).map(thousandths => thousandths / 1000),
)
const domain = fc.constantFrom('code', 'code/rust', 'code/rust/async', 'finance')
const byDomain = fc.dictionary(domain, level, { maxKeys: 3 })
const pair = fc
  .tuple(name, name)
  .filter(([owner, target]) => owner !== target)
  .map(([owner, target]) => ({ owner, target }))
/** Few, so that what was kept is asked for again. */
const QUESTIONS: readonly TrustQuestion[] = [
  { domains: [], domainTrustWeight: 0.5, maxHops: 5, damping: 0.9 },
  { domains: [], domainTrustWeight: 0.5, maxHops: 3, damping: 0.7 },
  { domains: ['code/rust/async', 'finance'], domainTrustWeight: 0.5, maxHops: 4, damping: 0.9 },
  { domains: ['finance/tax'], domainTrustWeight: 1, maxHops: 2, damping: 0.1 },
  { domains: ['code'], domainTrustWeight: 0, maxHops: 1, damping: 0.9 },
]
const ask = fc.record({
  do: fc.constant('ask' as const),
  viewer: fc.constantFrom('owner', 'a', 'g'),
  question: fc.constantFrom(...QUESTIONS.slice(0, 3), ...QUESTIONS),
  back: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(400 * DAY) }),
})
const set = fc
  .tuple(
    pair,
    level,
    fc.record({
      domains: fc.oneof(fc.constant({}), byDomain),
      basis: fc.oneof(fc.constant([]), fc.constant([{ type: 'MANUAL' as const, confidence: 1 }])),
      persistent: fc.boolean(),
      exposure: fc.constantFrom('private' as const, 'exposed' as const),
    }),
  )
  .map(([names, level, more]) => ({ do: 'trust' as const, ...names, level, more }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: set },
  { weight: 12, arbitrary: ask },
  { weight: 2, arbitrary: pair.map(names => ({ do: 'touch' as const, ...names })) },
  { weight: 1, arbitrary: pair.map(names => ({ do: 'remove' as const, ...names })) },
  { weight: 1, arbitrary: pair.map(names => ({ do: 'spoil' as const, ...names })) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unhost' as const), agent: name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('host' as const),
      agent: name,
      age: fc.nat(60 * DAY),
      reputation: fc.oneof(fc.constant(null), level),
      byDomain,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.oneof(fc.nat(5000), fc.nat(200 * DAY)) }),
  },
)
const rules: fc.Arbitrary<TrustRules> = fc.record({
  defaultTrust: fc.constant(0.1),
  sybilThreshold: fc.integer({ min: 1, max: 3 }),
  sybilCap: fc.constant(0.3),
  sybilRule: fc.constantFrom('first_hops' as const, 'disjoint' as const),
  newAgentCap: fc.boolean(),
})

describe('trust agrees with the plain reading of the rows (BQ-062 to BQ-063, BQ-070 to BQ-081)', () => {
  const folder = tempFolder()
  afterAll(() => folder[Symbol.dispose]())
  let made = 0

  it(
    `in memory, over histories${FULL ? ' (QUERENT_LONG)' : ''}`,
    () => {
      check(FULL ? 3000 : 25, 50, () => {
        const store = openMemoryStore()
        return { stores: [store], close: () => store.close() }
      })
    },
    PATIENCE_MS,
  )

  it(
    'on SQLite, with another process that changes edges',
    () => {
      check(FULL ? 200 : 4, 40, () => {
        const file = folder.file(`${++made}.db`)
        const stores = [0, 1].map(() => openSqliteStore({ file }))
        return { stores, close: () => closeAll(stores) }
      })
    },
    PATIENCE_MS,
  )
})

function closeAll(stores: readonly Store[]): void {
  for (const store of stores) store.close()
}

function check(runs: number, steps: number, open: () => { stores: readonly Store[]; close: () => void }): void {
  const start = fc.array(set, { minLength: 20, maxLength: 40 })
  const history = fc.array(step, { minLength: steps / 2, maxLength: steps })
  const property = fc.property(rules, start, history, (rules, start, steps) => {
    const { stores, close } = open()
    try {
      play(stores, rules, start, steps)
    } finally {
      close()
    }
  })
  fc.assert(property, { numRuns: runs })
}

function play(stores: readonly Store[], rules: TrustRules, start: readonly Step[], steps: readonly Step[]): void {
  const [store] = stores as [Store]
  const graphs = stores.map(store => new TrustGraph(store, rules))
  for (const [at, id] of NAMES.slice(1, 7).entries()) host(store, id, { createdAt: NOW - at * 10 * DAY })
  for (const step of start) if (step.do === 'trust') act(store, step, NOW)
  let now = NOW
  for (const [at, step] of steps.entries()) {
    const writing = stores[at % stores.length] as Store
    if (step.do === 'wait') now += step.ms
    else if (step.do === 'ask') askAll(store, graphs, rules, step, now - step.back)
    else act(writing, step, now)
  }
  for (const question of QUESTIONS) askAll(store, graphs, rules, { viewer: 'a', question }, now)
}

function askAll(
  store: Store,
  graphs: readonly TrustGraph[],
  rules: TrustRules,
  { viewer, question }: { readonly viewer: string; readonly question: TrustQuestion },
  asOf: number,
): void {
  const oracle = oracleOf(store, rules, asOf)
  for (const graph of graphs) {
    const trust = graph.trustOf(viewer, question, asOf)
    const columns = trust.columns(NAMES)
    for (const [at, holder] of NAMES.entries()) {
      const expected = oracle.of(viewer, holder, question)
      const { value, kind, direct, transitive } = trust.of(holder)
      const reported = direct && { ...pick(direct) }
      expect({ value, kind, direct: reported, transitive }, `${viewer} of ${holder}`).toEqual(expected)
      const own = holder === viewer ? 1 : (expected.direct?.value ?? Number.NaN)
      expect(columns.direct[at]).toBe(own)
    }
  }
}

function pick({
  base,
  decayed,
  value,
  distrusted,
}: {
  base: number
  decayed: number
  value: number
  distrusted: boolean
}) {
  return { base, decayed, value, distrusted }
}

function act(store: Store, step: Exclude<Step, { do: 'wait' | 'ask' }>, now: number): void {
  if (step.do === 'trust') trust(store, step.owner, step.target, step.level, step.more, now)
  else if (step.do === 'remove') store.write(now, writer => removeEdge(writer, step.owner, step.target))
  else if (step.do === 'touch') store.write(now, writer => touchEdges(writer, step.owner, [step.target], now))
  else if (step.do === 'unhost') unhost(store, step.agent)
  else if (step.do === 'host') {
    const { agent, age, reputation, byDomain } = step
    host(store, agent, { createdAt: now - age, reputation, byDomain: byDomain as Record<string, number> })
  } else spoil(store, step, now)
}

/** Changes what an edge says behind its signature. */
function spoil(store: Store, { owner, target }: { owner: string; target: string }, now: number): void {
  store.write(now, writer => {
    const row = writer.table(TRUST).get({ owner, target })
    if (row === undefined) return
    writer.table(TRUST).put({ ...row, level: 1 - (row['level'] as number) })
    noteEdges(writer, [{ owner, target }])
  })
}
