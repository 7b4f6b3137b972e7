/** Progress on standard error: a bar on a terminal, elsewhere a line now and then, so that a log shows that work goes on. */

import type { Progress } from '../../model/operation.ts'
import { type Io, streamOf, write } from './io.ts'
import { oneLine } from './render/style.ts'

interface ProgressBar extends Disposable {
  report(progress: Progress): void
}

export type Report = ProgressBar['report']

/** Without a terminal: this long without a word, in ms. */
const LINE_EVERY_MS = 10_000
/** Characters of what is being worked on. */
const MAX_LINE = 100

/** Shows how some work goes on while it does. */
export async function withProgress<T>(io: Io, work: (report: Report) => Promise<T>): Promise<T> {
  using bar = await progressBar(io)
  return await work(bar.report)
}

async function progressBar(io: Io): Promise<ProgressBar> {
  if (io.stderr.isTTY !== true || io.env['TERM'] === 'dumb') return progressLines(io)
  const { SingleBar, Presets } = (await import('cli-progress')).default
  const options = {
    stream: streamOf(io.stderr),
    format: '{phase} {bar} {value}/{total} {current}',
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  }
  const bar = new SingleBar(options, Presets.shades_classic)
  let started = false
  return {
    report({ phase, done, total, current = '' }) {
      const shown = { phase, current: fit(oneLine(current), (io.stderr.columns ?? 80) - 70) }
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
  let last = performance.now()
  return {
    report({ phase, done, total, current }) {
      if (performance.now() - last < LINE_EVERY_MS) return
      last = performance.now()
      const of = total === null ? '' : ` of ${total}`
      void write(io.stderr, `${phase} ${done}${of}${current === undefined ? '' : ` (${fit(current, MAX_LINE)})`}\n`)
    },
    [Symbol.dispose]() {},
  }
}

/** The end of a path says more than its beginning. */
function fit(text: string, width: number): string {
  if (width <= 1) return ''
  return text.length <= width ? text : `…${text.slice(1 - width)}`
}
