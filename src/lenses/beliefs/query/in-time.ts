/** What the work gives within so many milliseconds; null: time was up first, and the work was told to stop. */
export async function inTime<T>(
  work: (stop: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  leftMs: number,
): Promise<T | null> {
  const late = new AbortController()
  const ended = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.abort(), leftMs)
  const stop = AbortSignal.any([signal, late.signal])
  const end = () => (late.signal.aborted ? ended.resolve(null) : ended.reject(signal.reason))
  stop.addEventListener('abort', end, { once: true })
  try {
    if (stop.aborted) end()
    return await Promise.race([ended.promise, work(stop)])
  } catch (thrown) {
    // What stopped because it was told to is late, whatever it says.
    if (late.signal.aborted && !signal.aborted) return null
    throw thrown
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', end)
  }
}
