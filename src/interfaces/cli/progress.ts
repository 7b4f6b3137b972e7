/**
 * Shows progress on standard error: as a bar on a terminal, otherwise as a line from time to time, so that a log shows that the work
 * continues.
 */

import type { Progress } from '../../model/operation.ts'
import { type Io, streamOf, write } from './io.ts'
import { oneLine } from './render/answer.ts'

interface ProgressBar extends Disposable {
  report(progress: Progress): void
}

export type Report = ProgressBar['report']

/** Milliseconds between two progress lines if there is no terminal. */
const LINE_EVERY_MS = 10_000
/** Maximum number of characters of the item being processed, such as a path, in a progress line. */
const MAX_LINE = 100

/** Shows the progress of `work` while it runs. If the work throws, `onStop` gets the last progress, or null. */
export async function withProgress<T>(
  io: Io,
  work: (report: Report) => Promise<T>,
  onStop?: (last: Progress | null) => Promise<void>,
): Promise<T> {
  let last: Progress | null = null
  try {
    using bar = await progressBar(io)
    return await work(progress => {
      last = progress
      bar.report(progress)
    })
  } catch (error) {
    await onStop?.(last)
    throw error
  }
}

/** Progress as text, such as `embed 112 of 12352`. */
export function progressText({ phase, done, total }: Progress): string {
  return `${phase} ${done}${total === null ? '' : ` of ${total}`}`
}

/** Computes how many items per second the current phase of the work processes, and the time that is left. */
export class Pace {
  #phase = ''
  #startedAt = 0
  #startedWith = 0

  /**
   * Text such as `42/s, 5 min left`. Empty in the first second of a phase, when the rate is not meaningful yet. `now`: present time in
   * milliseconds.
   */
  describe({ phase, done, total }: Progress, now: number): string {
    if (phase !== this.#phase || done < this.#startedWith) {
      this.#phase = phase
      this.#startedAt = now
      this.#startedWith = done
    }
    const seconds = (now - this.#startedAt) / 1000
    const rate = (done - this.#startedWith) / seconds
    if (seconds < 1 || rate === 0) return ''
    const left = total === null ? '' : `, ${durationText((total - done) / rate)} left`
    return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s${left}`
  }
}

/** A duration in words, such as `5 s`, `3 min`, `2 h 5 min`. Rounded up, so that remaining time reaches zero only at the end. */
function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

async function progressBar(io: Io): Promise<ProgressBar> {
  if (io.stderr.isTTY !== true || io.env['TERM'] === 'dumb') return progressLines(io)
  const { SingleBar, Presets } = (await import('cli-progress')).default
  const options = {
    stream: streamOf(io.stderr),
    format: '{phase} {bar} {value}/{total} {pace} {current}',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  }
  const bar = new SingleBar(options, Presets.shades_classic)
  const pace = new Pace()
  let started = false
  return {
    report(progress) {
      const { phase, done, total, current = '' } = progress
      const speed = pace.describe(progress, performance.now())
      const shown = { phase, pace: speed, current: fit(oneLine(current), (io.stderr.columns ?? 80) - 80) }
      if (!started) bar.start(total ?? done, done, shown)
      started = true
      bar.setTotal(Math.max(total ?? done, 1))
      bar.update(done, shown)
    },
    [Symbol.dispose]() {
      if (started) bar.stop()
    },
  }
}

function progressLines(io: Io): ProgressBar {
  const pace = new Pace()
  let last = performance.now()
  return {
    report(progress) {
      const now = performance.now()
      const speed = pace.describe(progress, now)
      if (now - last < LINE_EVERY_MS) return
      last = now
      const { current } = progress
      const more = `${speed && `, ${speed}`}${current === undefined ? '' : ` (${fit(oneLine(current), MAX_LINE)})`}`
      void write(io.stderr, `${progressText(progress)}${more}\n`)
    },
    [Symbol.dispose]() {},
  }
}

/** Shortens a path by cutting off its beginning, because its end says more; `…` marks the cut. */
function fit(text: string, width: number): string {
  if (width <= 1) return ''
  return text.length <= width ? text : `…${text.slice(1 - width)}`
}
