/**
 * BQ-194: what may not be seen gives the answer, and costs the work, of what does not exist. Counted here; timed with QUERENT_LONG=1: 10,000 calls
 * each, in random order.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import { openSqliteStore } from '../../../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { countingStore, type Work } from '../../../support/counting-store.ts'
import { seededBytes, seededUniform } from '../../../support/seeded.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const folder = tempFolder()
const clock = new SettableClock(Date.UTC(2026, 5, 1))
let engine: Engine
let work: Work

/** By what they are to ann; all as long as each other. */
const IDS = {
  missing: 'b-nothing',
  private: 'b-private',
  federated: 'b-circle-',
  past: 'b-before-',
  deleted: 'b-removed',
} as const
type Kind = keyof typeof IDS

beforeAll(async () => {
  const counting = countingStore(openSqliteStore({ file: `${folder.path}/store.db` }))
  work = counting.work
  const random = seededBytes(2)
  engine = await openBeliefsEngine({ store: counting.store, clock, random })
  const call = (name: string, by: string, input: object) => callOperation(engine, name, by, input)
  for (const id of ['ann', 'bob', 'cyd']) await call('agents.create', 'owner', { id })
  await call('federations.create', 'owner', { id: 'circle' })
  for (const agent of ['bob', 'cyd']) await call('federations.set_member', 'owner', { federation: 'circle', agent })
  await call('beliefs.put', 'bob', { id: IDS.private, content: 'Foxes dig' })
  await call('beliefs.put', 'bob', {
    ...{ id: IDS.federated, content: 'Foxes swim' },
    ...{ visibility: 'federated', federation_ids: ['circle'] },
  })
  await call('beliefs.put', 'bob', { id: IDS.past, content: 'Foxes fly' })
  await call('beliefs.supersede', 'bob', { belief_id: IDS.past, content: 'Foxes run' })
  await call('beliefs.put', 'bob', { id: IDS.deleted, content: 'Foxes sing' })
  await call('beliefs.delete', 'bob', { belief_id: IDS.deleted })
  await call('beliefs.put', 'bob', { id: 'b-for-all', content: 'Foxes hunt', visibility: 'public' })
  await call('beliefs.put', 'ann', { id: 'b-of-ann-', content: 'Foxes hide' })
})
afterAll(async () => {
  await engine.close()
  folder[Symbol.dispose]()
})

interface Reported {
  readonly answer: string
  /** What the store was asked for, in order. */
  readonly calls: readonly string[]
  readonly isOfContents: boolean
}

/** And finds some. */
const READS_CONTENTS = /^(entry|entries) [^0]/
const QUERY = { semantic: 'foxes' }
const CALLS: readonly (readonly [string, (id: string) => object])[] = [
  ['beliefs.get', id => ({ belief_id: id })],
  ['beliefs.get', id => ({ belief_id: id, include_superseded: true })],
  ['beliefs.derivation', id => ({ belief_id: id })],
  ['beliefs.similar', id => ({ belief_id: id })],
  ['beliefs.contradictions', id => ({ belief_id: id })],
  ['beliefs.explain', id => ({ belief_id: id, query: QUERY })],
  ['beliefs.supersede', id => ({ belief_id: id, content: 'Foxes rule' })],
  ['beliefs.delete', id => ({ belief_id: id })],
  ['get', id => ({ id })],
  ['similar', id => ({ id })],
  ['explain', id => ({ id, query: { text: 'foxes' } })],
  ['delete', id => ({ ids: [id] })],
]

/** What ann receives. */
async function reported(name: string, input: object, id: string): Promise<string> {
  const answer = await callOperation(engine, name, 'ann', input).then(
    result => ({ result }),
    (error: unknown) => ({ error }),
  )
  return JSON.stringify(answer)
    .replaceAll(id, 'ID')
    .replace(/"request_id":"\w+"/, '')
}

describe('a belief that may not be seen (BQ-194)', () => {
  it.each(CALLS)('is for %s what there is not, and as much work: %#', async (name, inputOf) => {
    // Work that takes long pauses, and looks at the store again: on a busy machine one of two calls would do so.
    using _time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    const found: Partial<Record<Kind, Reported>> = {}
    for (const kind of Object.keys(IDS) as Kind[]) {
      const id = IDS[kind]
      // Once before, so that what is kept of an answer makes no difference.
      await reported(name, inputOf(id), id)
      work.calls.length = 0
      const answer = await reported(name, inputOf(id), id)
      expect(answer).toContain('"error"')
      const calls = work.calls.map(call => call.replace(/ \d+$/, ''))
      const isOfContents = work.calls.some(call => READS_CONTENTS.test(call))
      expect(isOfContents).toBe(false)
      found[kind] = { answer, calls, isOfContents }
    }
    const { missing, ...others } = found
    for (const [kind, other] of Object.entries(others)) expect({ kind, ...other }).toEqual({ kind, ...missing })
  })
})

const ROUNDS = 10_000
const MAX_APART = 0.05

describe.runIf(LONG)(`${ROUNDS} calls each, in random order (QUERENT_LONG=1)`, () => {
  it.each(CALLS)(
    'BQ-194: %s takes as long for what may not be seen as for what there is not: %#',
    async (name, inputOf) => {
      const kinds = Object.keys(IDS) as Kind[]
      const uniform = seededUniform(3)
      const order = kinds
        .flatMap(kind => Array.from({ length: ROUNDS }, () => ({ kind, at: uniform() })))
        .sort((a, b) => a.at - b.at)
      const times = new Map(kinds.map(kind => [kind, new Float64Array(ROUNDS)]))
      const counts = new Map(kinds.map(kind => [kind, 0]))
      for (const { kind } of order) {
        work.calls.length = 0
        const input = inputOf(IDS[kind])
        const started = performance.now()
        await callOperation(engine, name, 'ann', input).catch(() => undefined)
        const count = counts.get(kind) as number
        ;(times.get(kind) as Float64Array)[count] = performance.now() - started
        counts.set(kind, count + 1)
      }
      const medians = kinds.map(kind => (times.get(kind) as Float64Array).sort()[ROUNDS / 2] as number)
      process.stderr.write(
        `${name}: medians in ms ${kinds.map((kind, at) => `${kind} ${medians[at]?.toFixed(4)}`).join(', ')}\n`,
      )
      for (const median of medians) expect(Math.abs(median / (medians[0] as number) - 1)).toBeLessThan(MAX_APART)
    },
  )
})
