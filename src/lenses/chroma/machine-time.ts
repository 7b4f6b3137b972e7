/** Machine time for what waits or is put off: it is no matter of the engine's clock. */

export type Sleep = (ms: number) => Promise<void>

export const sleepFor: Sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Calls `run` once after so many ms; what it returns calls that off. */
export type Timer = (run: () => void, ms: number) => () => void

/** Does not keep the process alive. */
export const machineTimer: Timer = (run, ms) => {
  const timeout = setTimeout(run, ms).unref()
  return () => clearTimeout(timeout)
}
