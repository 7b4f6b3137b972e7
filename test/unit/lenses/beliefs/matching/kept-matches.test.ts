/** What is kept of matches stays what it was of, though rows go, and with a holder's last belief his number. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { Engine } from '../../../../../src/engine/engine.ts'
import { ALL_SOURCES } from '../../../../../src/lenses/beliefs/access/requester.ts'
import { Interned } from '../../../../../src/lenses/beliefs/columns/interned.ts'
import { inScope } from '../../../../../src/lenses/beliefs/matching/in-scope.ts'
import type { Matches } from '../../../../../src/lenses/beliefs/matching/matches.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'

let engine: Engine
beforeEach(async () => {
  const clock = new SettableClock(Date.UTC(2026, 5, 1))
  engine = await openBeliefsEngine({ store: 'memory', clock, embedder: 'none' })
  for (const id of ['ann', 'bob', 'cyd']) await callOperation(engine, 'agents.create', 'owner', { id })
  for (let at = 0; at < 5; at++) await put('bob', `fox ${at}`)
})
afterEach(() => engine.close())

function put(by: string, id: string): Promise<Json> {
  return callOperation(engine, 'beliefs.put', by, { id: id.replaceAll(' ', '-'), content: id, visibility: 'public' })
}

function remove(by: string, belief_id: string): Promise<Json> {
  return callOperation(engine, 'beliefs.delete', by, { belief_id })
}

function matches(): Matches {
  const state = stateOf(engine.host('beliefs'))
  const asOf = state.host.clock.now()
  return state.look('ann', ({ columns, requester }) =>
    state.scopes.of({ columns, requester, scope: ALL_SOURCES, asOf, validAt: null }),
  )
}

it('leaves out what went, though nobody asked which entries they were while it was there', async () => {
  expect(matches().count).toBe(5)
  await remove('bob', 'fox-0')
  const kept = matches()
  expect(kept.count).toBe(4)
  await remove('bob', 'fox-3')
  const left = matches()
  expect([left.count, left.bits.size]).toEqual([3, 3])
  for (const { bits } of [kept, left]) expect(bits.byteLength).toBeLessThan(1_000)
})

it('is itself without rows that are not among it', () => {
  const all = matches()
  const none = Math.max(...all.rows) + 1
  expect(all.without(new Set([none])).frozen().among.size).toBe(5)
})

it('goes on where a holder’s last belief went', async () => {
  await put('cyd', 'fox of cyd')
  const query = { semantic: 'fox', options: { scope: { network: true }, limit: 2 } }
  const ask = () => callOperation(engine, 'beliefs.query', 'ann', query)
  const before = await ask()
  expect(before['total_count']).toBe(6)
  await remove('cyd', 'fox-of-cyd')
  const after = await ask()
  expect(after['total_count']).toBe(5)
  expect(after['next_cursor']).not.toBe(before['next_cursor'])
})

it('tells the text of a number that nobody uses until it is given to another', () => {
  const texts = new Interned()
  const number = texts.take('cyd')
  const { given } = texts
  texts.leave(number)
  expect([texts.text(number), texts.numberOf('cyd'), texts.size]).toEqual(['cyd', -1, 0])
  expect(texts.given).toBe(given)
  expect(texts.take('dan')).toBe(number)
  expect([texts.text(number), texts.given]).toEqual(['dan', given + 1])
})

it('is at any moment near now what a pass of its own would find', async () => {
  const start = Date.UTC(2026, 5, 1)
  const clock = new SettableClock(start)
  await using other = await openBeliefsEngine({ store: 'memory', clock, embedder: 'none' })
  await callOperation(other, 'agents.create', 'owner', { id: 'bob' })
  for (const [id, from, until] of [
    ['always', null, null],
    ['soon', start + 2_000, null],
    ['gone', null, start + 3_000],
    ['between', start + 1_000, start + 4_000],
  ] as const) {
    await callOperation(other, 'beliefs.put', 'bob', {
      ...{ id, content: `fox ${id}`, visibility: 'public' },
      ...(from !== null && { valid_from: new Date(from).toISOString() }),
      ...(until !== null && { valid_until: new Date(until).toISOString() }),
    })
  }
  const state = stateOf(other.host('beliefs'))
  let spared = 0
  for (let now = start; now <= start + 5_000; now += 250) {
    clock.set(now)
    for (const at of [now - 3_600_000, now - 1_000, now - 250, now, now + 250, now + 1_000]) {
      state.look('ann', ({ columns, requester }) => {
        const request = { columns, requester, scope: ALL_SOURCES, asOf: now, validAt: [at] }
        const kept = state.scopes.of(request)
        expect([at - start, ...kept.rows]).toEqual([at - start, ...inScope(request).rows])
        if (kept === state.scopes.of({ ...request, validAt: null })) spared++
      })
    }
  }
  expect(spared).toBeGreaterThan(20)
})
