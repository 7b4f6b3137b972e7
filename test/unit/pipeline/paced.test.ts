import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { paced } from '../../../src/pipeline/paced.ts'

class Hand {
  readonly waiting = new Map<() => void, number>()
  after = (ms: number, callback: () => void) => {
    this.waiting.set(callback, ms)
    return () => void this.waiting.delete(callback)
  }
  ring(): void {
    for (const callback of [...this.waiting.keys()]) {
      this.waiting.delete(callback)
      callback()
    }
  }
}

function numbers(last = 5) {
  const hand = new Hand()
  const caller = new AbortController()
  const made: number[] = []
  const state = { isFreed: false, stop: null as AbortSignal | null }
  async function* pieces(stop: AbortSignal) {
    state.stop = stop
    try {
      for (let number = 1; number <= last; number++) {
        await new Promise(resolve => setImmediate(resolve))
        if (stop.aborted) throw new QuerentError('cancelled', 'stopped')
        made.push(number)
        yield number
      }
    } finally {
      state.isFreed = true
    }
  }
  const pace = { signal: caller.signal, idleMs: 60_000, after: hand.after }
  return { hand, caller, made, state, read: paced(pieces, pace) }
}

describe('an answer at the pace of its reader', () => {
  it('is made as it is asked for, and free when it ends', async () => {
    const { hand, made, state, read } = numbers(3)
    expect(made).toEqual([])
    for (const wanted of [1, 2, 3]) {
      expect(await read.next()).toEqual({ done: false, value: wanted })
      expect(made).toHaveLength(wanted)
      expect([...hand.waiting.values()]).toEqual([60_000])
    }
    expect(await read.next()).toEqual({ done: true, value: undefined })
    expect([state.isFreed, hand.waiting.size]).toEqual([true, 0])
  })

  it('ends when nobody asks for the next piece for too long, and reports it once', async () => {
    const { hand, made, state, read } = numbers()
    await read.next()
    hand.ring()
    await new Promise(resolve => setImmediate(resolve))
    expect(state.isFreed).toBe(true)
    await expect(read.next()).rejects.toMatchObject({ code: 'deadline_exceeded', details: { idle_ms: 60_000 } })
    expect(await read.next()).toEqual({ done: true, value: undefined })
    expect(made).toEqual([1])
  })

  it.each([true, false])('stops at once when the reader returns (while a piece is made: %s)', async isMaking => {
    const { hand, state, read } = numbers()
    await read.next()
    const going = isMaking ? read.next().catch((error: unknown) => error) : null
    expect(await read.return?.()).toEqual({ done: true, value: undefined })
    if (going !== null) expect(await going).toMatchObject({ code: 'cancelled' })
    expect([state.isFreed, state.stop?.aborted, hand.waiting.size]).toEqual([true, true, 0])
    expect(await read.next()).toEqual({ done: true, value: undefined })
  })

  it.each(['before', 'while making', 'between'])('stops when its caller says so: %s', async when => {
    const { hand, caller, state, read } = numbers()
    if (when === 'before') caller.abort()
    else await read.next()
    const going = when === 'while making' ? read.next() : null
    caller.abort()
    await expect(going ?? read.next()).rejects.toMatchObject({ code: 'cancelled' })
    expect([state.isFreed || when === 'before', hand.waiting.size]).toEqual([true, 0])
  })

  it('leaves no trace on a signal that lives longer', async () => {
    const { caller, read } = numbers(2)
    const listened = new Set<unknown>()
    const { addEventListener, removeEventListener } = caller.signal
    caller.signal.addEventListener = (...given: [string, never]) => {
      listened.add(given[1])
      addEventListener.apply(caller.signal, given)
    }
    caller.signal.removeEventListener = (...given: [string, never]) => {
      listened.delete(given[1])
      removeEventListener.apply(caller.signal, given)
    }
    for await (const _ of read) expect(listened.size).toBe(1)
    expect(listened.size).toBe(0)
  })
})
