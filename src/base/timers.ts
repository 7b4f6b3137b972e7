/** Machine time: when to look, ask and send. It has no part in what an answer says. */
import { nextTurn } from './turns.ts'

export interface Timers {
  /** Milliseconds, never backwards. */
  now(): number
  /** Calls back once, this many milliseconds from now; returns what prevents it. */
  after(ms: number, callback: () => void): () => void
  /** Resolves when everything else that waits has had its turn. */
  turn(): Promise<void>
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  turn: nextTurn,
}

/** Resolves after so many milliseconds, or as soon as the signal comes. `unref`: keeps no process up. */
export function pause(ms: number, signal: AbortSignal, { unref = false } = {}): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (unref) timer.unref()
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
