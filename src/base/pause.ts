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
