/** Comparing two pages: net differences, their order, losses, the cap, and what passing time may change. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Difference, LiveMachine } from '../../../../src/engine/live/difference.ts'
import type { LiveOptions, LiveState } from '../../../../src/model/live.ts'
import { Listener, OPTIONS, shownIn, stateOf } from './items.ts'

const NOTHING = { items: [], asOf: 0 }

function opened(texts: readonly string[], options: Partial<LiveOptions> = {}): LiveMachine {
  const machine = new LiveMachine({ ...OPTIONS, ...options }, NOTHING)
  machine.open(stateOf(texts), 'silent')
  return machine
}

function drain(machine: LiveMachine, now = 0): readonly Difference[] {
  const taken: Difference[] = []
  for (let next = machine.take(now); next !== null; next = machine.take(now)) taken.push(next)
  return taken
}

const reported = (differences: readonly Difference[]) => differences.map(({ type, id }) => `${type} ${id}`)

describe('net differences (BQ-160)', () => {
  it('tells removals in old rank order, then the others in new rank order', () => {
    const machine = opened(['a', 'b', 'c'])
    machine.answered(stateOf(['d', 'b2']), 'change')
    expect(reported(drain(machine))).toEqual(['removed a', 'removed c', 'added d', 'updated b'])
  })

  it('tells nothing of what came and went, nor of what went and came back as it was', () => {
    const machine = opened(['a', 'b'])
    machine.answered(stateOf(['a', 'b', 'c']), 'change')
    machine.answered(stateOf(['b']), 'change')
    machine.answered(stateOf(['a', 'b']), 'change')
    expect(drain(machine)).toEqual([])
  })

  it('makes one event of several changes, with the first previous score and the fields that differ', () => {
    const machine = opened(['a', 'b'])
    machine.answered(stateOf(['b1', 'a']), 'change')
    machine.answered(stateOf(['a', 'c', 'b2']), 'change')
    const [added, updated] = drain(machine)
    expect(added).toMatchObject({ type: 'added', id: 'c' })
    expect(updated).toMatchObject({ type: 'updated', id: 'b', reason: 'content_changed' })
    expect(updated?.details).toEqual({
      previous_score: 0.5,
      score: 1 / 3,
      previous_rank: 2,
      new_rank: 3,
      changed_fields: ['title'],
    })
  })

  it('leaves out removals alone where they are not wanted', () => {
    const machine = opened(['a', 'b'], { includeRemovals: false })
    machine.answered(stateOf(['b2', 'c']), 'change')
    expect(reported(drain(machine))).toEqual(['updated b', 'added c'])
    machine.answered(stateOf(['a', 'b2', 'c']), 'change')
    expect(reported(drain(machine))).toEqual(['added a'])
  })

  it('tells of other places where that is wanted, with both', () => {
    const machine = opened(['a', 'b'], { includeReranks: true })
    machine.answered(stateOf(['c', 'a', 'b']), 'change')
    const events = drain(machine)
    expect(reported(events)).toEqual(['added c', 'reranked a', 'reranked b'])
    expect(events[1]).toMatchObject({ reason: 'rank_changed', details: { previous_rank: 1, new_rank: 2 } })
    expect(reported(drain(machine))).toEqual([])
  })

  it('names a new id, and the one before', () => {
    const machine = opened(['a'])
    const [item] = stateOf(['a2']).items
    machine.answered({ ...stateOf([]), items: [{ ...(item as never as LiveState['items'][0]), id: 'x' }] }, 'change')
    expect(drain(machine)[0]).toMatchObject({ id: 'x', details: { previous_id: 'a' } })
  })
})

describe('reasons (BQ-159)', () => {
  it('tells what is new from what was there, and what was outranked from what no longer matches', () => {
    const machine = opened(['a', 'b'])
    machine.answered(stateOf(['a'], { asOf: 5 }), 'change')
    expect(drain(machine)).toMatchObject([{ id: 'b', reason: 'no_match' }])
    const { items, ...rest } = stateOf(['c', 'd'], { full: true, asOf: 9 })
    machine.answered({ ...rest, items: items.map(item => (item.id === 'd' ? { ...item, since: 6 } : item)) }, 'change')
    expect(drain(machine)).toMatchObject([
      { id: 'a', reason: 'outranked' },
      { id: 'c', reason: 'now_matches' },
      { id: 'd', reason: 'new_match' },
    ])
  })

  it('tells a change of standing alone, and no change of score alone', () => {
    const machine = opened(['a', 'b'])
    machine.answered(stateOf(['a:x', 'b', 'c']), 'change')
    expect(drain(machine)).toMatchObject([
      { type: 'updated', id: 'a', reason: 'score_changed', details: { previous_score: 1, score: 1 } },
      { type: 'added', id: 'c' },
    ])
    machine.answered(stateOf(['a:x', 'b']), 'change')
    expect(reported(drain(machine))).toEqual(['removed c'])
  })
})

describe('passing time (BQ-158)', () => {
  it('brings and takes, and neither updates nor reranks', () => {
    const machine = opened(['a', 'b'], { includeReranks: true })
    machine.answered(stateOf(['c', 'b:y', 'a']), 'time')
    expect(reported(drain(machine))).toEqual(['added c'])
  })

  it('does not swallow what a change has done before and was not told yet', () => {
    const machine = opened(['a', 'b'])
    machine.answered(stateOf(['a2', 'b']), 'change')
    machine.answered(stateOf(['a2', 'b', 'c']), 'time')
    expect(reported(drain(machine))).toEqual(['updated a', 'added c'])
  })
})

describe('losses (BQ-161)', () => {
  it('come first, bear nothing but an id, pass the cap, and are the last of it', () => {
    const machine = opened(['a', 'b', 'c'], { maxEventsPerMinute: 1 })
    machine.answered(stateOf(['b2', 'a2', 'c2']), 'change')
    expect(machine.take(0)).toMatchObject({ id: 'b' })
    expect(machine.take(0)).toBe(null)
    machine.lose(['ann\na', 'ann\nnever seen'])
    expect(machine.take(0)).toEqual({
      type: 'removed',
      key: 'ann\na',
      id: 'a',
      reason: 'unavailable',
      details: {},
      now: null,
    })
    machine.lose(['ann\na'])
    expect(reported(drain(machine, 60_000))).toEqual(['updated c'])
  })

  it('are taken back unheard when access returns first', () => {
    const machine = opened(['a'])
    machine.lose(['ann\na'])
    machine.answered(stateOf(['a']), 'change')
    expect(drain(machine)).toEqual([])
  })
})

describe('the cap (BQ-164)', () => {
  it('holds, merges, and loses nothing', () => {
    const machine = opened(['a'], { maxEventsPerMinute: 2 })
    machine.answered(stateOf(['a', 'b', 'c', 'd', 'e']), 'change')
    expect(reported(drain(machine, 0))).toEqual(['added b', 'added c'])
    expect(machine.heldUntil(10)).toBe(60_000)
    machine.answered(stateOf(['a', 'b2', 'c', 'e']), 'change')
    expect(drain(machine, 59_999)).toEqual([])
    const late = drain(machine, 60_000)
    expect(reported(late)).toEqual(['updated b', 'added e'])
  })

  it('does not count what a subscription begins with (BQ-162)', () => {
    const machine = new LiveMachine({ ...OPTIONS, maxEventsPerMinute: 1 }, NOTHING)
    machine.open(stateOf(['a', 'b', 'c']), 'initial')
    expect(drain(machine).map(({ id, reason }) => `${id} ${reason}`)).toEqual(['a initial', 'b initial', 'c initial'])
    machine.answered(stateOf(['a2', 'b', 'c']), 'change')
    expect(reported(drain(machine))).toEqual(['updated a'])
  })
})

type Step =
  | { readonly do: 'answer'; readonly texts: readonly string[]; readonly cause: 'change' | 'time' }
  | { readonly do: 'lose'; readonly keys: readonly string[] }
  | { readonly do: 'take'; readonly times: number }
  | { readonly do: 'wait'; readonly ms: number }

const texts = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...'abcdefg'), fc.constantFrom('', '1', '2', '1:x')), {
    selector: ([key]) => key,
    maxLength: 6,
  })
  .map(items => items.map(([key, rest]) => key + rest))

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('answer' as const), texts, cause: fc.constantFrom('change', 'change', 'time') }),
    fc.record({ do: fc.constant('lose' as const), keys: fc.subarray([...'abcdefg'], { maxLength: 2 }) }),
    fc.record({ do: fc.constant('take' as const), times: fc.nat({ max: 4 }) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 20_000, 60_000) }),
  ),
  { maxLength: 20 },
)

const optionsOf = fc.record({
  maxEventsPerMinute: fc.constantFrom(1, 2, 5, 600),
  includeReranks: fc.boolean(),
  how: fc.constantFrom('initial' as const, 'silent' as const),
})

it('whatever comes, in whatever order: who hears all events knows the last answer, and never more than it may', () => {
  fc.assert(
    fc.property(texts, steps, optionsOf, (first, history, { how, ...options }) => {
      const machine = new LiveMachine({ ...OPTIONS, ...options }, NOTHING)
      const listener = new Listener()
      const counted: number[] = []
      const lost = new Set<string>()
      let now = 0
      const take = (): boolean => {
        const event = machine.take(now)
        if (event === null) return false
        expect(event.now === null, 'only removals bear no item').toBe(event.type === 'removed')
        if (lost.has(event.id)) expect(event).toMatchObject({ type: 'removed', reason: 'unavailable', details: {} })
        if (event.type === 'removed') expect(listener.known.has(event.id)).toBe(true)
        if (event.type === 'added') expect(listener.known.has(event.id)).toBe(false)
        listener.hear({ ...event, item: event.now?.shown })
        if (event.reason !== 'initial' && event.reason !== 'unavailable') counted.push(now)
        return true
      }
      let last = stateOf(first)
      machine.open(last, how)
      if (how === 'silent') for (const { id, shown } of last.items) listener.hear({ type: 'added', id, item: shown })
      for (const step of history) {
        if (step.do === 'answer') {
          last = stateOf(step.texts)
          for (const { id } of last.items) lost.delete(id)
          machine.answered(last, step.cause)
        } else if (step.do === 'lose') {
          for (const key of step.keys) lost.add(key)
          machine.lose(step.keys.map(key => `ann\n${key}`))
          last = { ...last, items: last.items.filter(({ id }) => !lost.has(id)) }
        } else if (step.do === 'take') for (let left = step.times; left > 0 && take(); left--);
        else now += step.ms
      }
      // As any change does: what time alone had moved is reported with it.
      machine.answered(last, 'change')
      for (let rounds = 0; rounds < 100; rounds++) {
        while (take());
        now = machine.heldUntil(now) ?? now
      }
      expect(listener.texts).toEqual(shownIn(last))
      expect(machine.delivered.items.map(({ id }) => id)).toEqual(last.items.map(({ id }) => id))
      const most = options.maxEventsPerMinute
      expect(counted.every((at, i) => i < most || at - (counted[i - most] as number) >= 60_000)).toBe(true)
    }),
    { numRuns: process.env['QUERENT_LONG'] === '1' ? 20_000 : 500 },
  )
})
