/** What a benchmark says: rows of named numbers, the goal beside each, and the machine it ran on. */
import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Row {
  readonly name: string
  readonly unit: string
  /** The median, where there are many samples. */
  readonly value: number
  readonly p50?: number | undefined
  readonly p99?: number | undefined
  /** In words, for example `p50 <= 3 x floor`. */
  readonly goal?: string | undefined
  /** Whether the goal is met; absent when there is none. */
  readonly ok?: boolean | undefined
  /** Median as a multiple of the kernel floor of the same run. */
  readonly ratioToFloor?: number | undefined
  readonly note?: string | undefined
}

/** One file a question: `npm run bench -- <name>` runs it alone. */
export interface Benchmark {
  readonly name: string
  run(): Promise<readonly Row[]>
}

/** What a benchmark has measured. */
export interface Result {
  readonly commit: string
  /** Of the machine when it began: processes at work, averaged over a minute. */
  readonly load: number
  /** Of the first run. */
  readonly rows: readonly Row[]
  /** Of the runs after it, in order: there are some where a goal was missed. */
  readonly repeats?: readonly (readonly Row[])[] | undefined
}

/** By name, of each benchmark the last run. */
export interface Report {
  readonly machine: Machine
  readonly results: Readonly<Record<string, Result>>
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly load: number
}

export function machine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load: load(),
  }
}

function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2))
}

/** Of the working tree. */
export function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      encoding: 'utf8',
    }).trim()
  } catch {
    return 'unknown'
  }
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Of times in ms: the median, and what one in a hundred exceeds. */
export function latency(name: string, times: readonly number[]): Row & { readonly p50: number; readonly p99: number } {
  const p50 = percentile(times, 0.5)
  return { name, unit: 'ms', value: p50, p50, p99: percentile(times, 0.99) }
}

/** Milliseconds that `body` took. */
export function timed(body: () => unknown): number {
  const start = performance.now()
  body()
  return performance.now() - start
}

export async function timedAsync(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await body()
  return performance.now() - start
}
