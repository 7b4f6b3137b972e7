/**
 * Counts turns of the event loop while work runs that pauses (QE-019), without a look at the machine's clock. A test file that uses
 * it begins with `vi.mock('…/src/base/turns.ts', async original => (await import('…/turns-of.ts')).alwaysDue(original))`.
 */
import type * as turns from '../../src/base/turns.ts'

/** More than work may take between two pauses. */
const STEP_MS = 21

let isCounting = false

/** The module with turns that pause at every step while they are counted. */
export async function alwaysDue(original: () => Promise<unknown>): Promise<unknown> {
  const actual = (await original()) as typeof turns
  class Turns extends actual.Turns {
    constructor(...[check, now, turn]: ConstructorParameters<typeof actual.Turns>) {
      let time = 0
      super(check, now ?? (isCounting ? () => (time += STEP_MS) : undefined), turn)
    }
  }
  return { ...actual, Turns }
}

/** `between` is called in each turn of the event loop with its number, from 1; rejects with what it throws. */
export async function turnsOf<T>(
  work: () => Promise<T>,
  between: (turn: number) => unknown = () => {},
): Promise<{ readonly turns: number; readonly result: T }> {
  let [count, isOver] = [0, false]
  const called: Promise<unknown>[] = []
  const tick = () => {
    if (isOver) return
    const turn = ++count
    called.push((async () => between(turn))())
    setImmediate(tick)
  }
  isCounting = true
  try {
    const working = work()
    setImmediate(tick)
    const result = await working
    isOver = true
    const turns = count
    await Promise.all(called)
    return { turns, result }
  } finally {
    isOver = true
    isCounting = false
  }
}
