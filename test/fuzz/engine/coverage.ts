/**
 * Which code ran, as V8 counts it: a feature is a block of our source and how often it ran, in powers of two. Also how
 * much ran, which does not depend on how busy the machine is.
 */
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

const SOURCE = new URL('../../../src/', import.meta.url).href

export interface Ran {
  readonly features: readonly string[]
  /** Blocks entered, counted each time. */
  readonly work: number
}

export class Coverage implements Disposable {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Since the last call. Some milliseconds. */
  take(): Ran {
    let scripts: readonly Profiler.ScriptCoverage[] = []
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error
      scripts = answer.result
    })
    const features: string[] = []
    let work = 0
    for (const { url, functions } of scripts) {
      if (!url.startsWith(SOURCE)) continue
      const file = url.slice(SOURCE.length)
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count === 0) continue
          work += count
          features.push(`${file}:${startOffset}-${endOffset}:${Math.floor(Math.log2(count))}`)
        }
      }
    }
    return { features, work }
  }

  [Symbol.dispose](): void {
    this.#session.disconnect()
  }
}

/** Where in our source an error came from, without the line: lines move. */
export function placeOf(error: Error): string {
  const source = fileURLToPath(SOURCE)
  const line = (error.stack ?? '')
    .split('\n')
    .find(at => /^\s+at /.test(at) && (at.includes(SOURCE) || at.includes(source)))
  return (
    /at (?:async )?(?:new )?(\S+)? ?\(?.*?\/src\/([^:]+)/
      .exec(line ?? '')
      ?.slice(1, 3)
      .join(' in ') ?? 'elsewhere'
  )
}
