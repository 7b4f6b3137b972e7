/** Long work in small steps, and the turns of others between them. */
import { describe, expect, it } from 'vitest'
import { atOnce, nextTurn, type Steps, sortInSteps, Turns } from '../../../src/base/turns.ts'

/** Steps of so many milliseconds each, on a clock of its own; gives how often it was paused. */
function workOf(steps: readonly number[]) {
  const clock = { now: 0 }
  function* work(): Steps<number> {
    let paused = 0
    for (const ms of steps) {
      clock.now += ms
      if (yield) paused++
    }
    return paused
  }
  return { clock, work }
}

describe('work in steps', () => {
  it('QE-019: pauses once it has worked for 20 ms, and short work never does', async () => {
    const { clock, work } = workOf([5, 5, 5, 5, 19, 1, 1])
    const pausedAt: number[] = []
    const turns = new Turns(
      () => {},
      () => clock.now,
      async () => {
        pausedAt.push(clock.now)
      },
    )
    expect(await turns.run(work())).toBe(2)
    expect(pausedAt).toEqual([20, 40])
    expect(await turns.pauseIfDue()).toBe(false)
    const short = workOf([5, 5, 5])
    const never = () => Promise.reject(new Error('paused'))
    expect(await new Turns(undefined, () => short.clock.now, never).run(short.work())).toBe(0)
  })

  it('calls before the next pause alone who was to be called last, and ends where the check throws', async () => {
    const { clock, work } = workOf([30, 30, 30, 30])
    const calls: string[] = []
    const check = () => {
      if (clock.now >= 90) throw new Error('cancelled')
    }
    const turn = async () => void calls.push('pause')
    const turns = new Turns(check, () => clock.now, turn)
    turns.beforeNext(() => calls.push('replaced'))
    turns.beforeNext(() => calls.push('before'))
    await expect(turns.run(work())).rejects.toThrow('cancelled')
    expect(calls).toEqual(['before', 'pause', 'pause', 'pause'])
  })

  it('QE-019: pauses too where many short pieces of work follow each other without a turn of the event loop', async () => {
    const pauses: boolean[] = []
    for (let piece = 0; piece < 10; piece++) {
      const turns = new Turns()
      for (const end = performance.now() + 5; performance.now() < end; );
      pauses.push(await turns.pauseIfDue())
    }
    expect(pauses).toContain(true)
  })

  it('can be done without a pause', () => {
    expect(atOnce(workOf([100, 100]).work())).toBe(0)
  })
})

/** Three workers that wait for a turn three times each; `work` runs after each wait. Returns `name` and number of the turn, in order. */
async function takeTurns(work: () => void): Promise<readonly string[]> {
  const went: string[] = []
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const worker = async (name: string) => {
    for (let piece = 0; piece < 3; piece++) {
      await nextTurn()
      went.push(`${name}${turn}`)
      work()
    }
  }
  await Promise.all(['a', 'b', 'c'].map(worker))
  isOver = true
  return went
}

it('QE-019: of all waiting pieces of long work, one continues in each turn of the event loop, in the order of waiting', async () => {
  const went = await takeTurns(() => busy(21))
  expect(went.map(name => name[0]).join('')).toBe('abcabcabc')
  expect(new Set(went.map(name => name.slice(1))).size).toBe(9)
})

it('QE-019: work that begins in each turn does not overtake the waiting pieces: short ones continue together', async () => {
  let isOver = false
  const begin = () => {
    busy(5)
    if (!isOver) setImmediate(begin)
  }
  setImmediate(begin)
  const went = await takeTurns(() => {})
  isOver = true
  expect(went.map(name => name[0]).join('')).toBe('abcabcabc')
  expect(new Set(went.map(name => name.slice(1))).size).toBeLessThan(9)
})

function busy(ms: number): void {
  const begun = performance.now()
  while (performance.now() - begun < ms);
}

it('QE-019: sorting in steps gives what sorting in one piece gives, with the order of equal ones kept', () => {
  const values = Array.from({ length: 5_000 }, (_, at) => ({ at, by: (at * 7919) % 97 }))
  const compare = (a: { readonly by: number }, b: { readonly by: number }) => a.by - b.by
  const steps = sortInSteps(values, compare)
  let count = 1
  let step = steps.next(false)
  for (; step.done !== true; step = steps.next(false)) count++
  expect(step.value).toEqual(values.toSorted(compare))
  expect(count).toBeGreaterThan(5_000 / 1024)
  expect(atOnce(sortInSteps([], compare))).toEqual([])
})
