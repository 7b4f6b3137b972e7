/** What a part of `bench/scale.ts` says. */
import { percentile, timedAsync } from '../report.ts'

/** What was measured of one size: its name is that of a series over all sizes. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly value: number
  readonly p99?: number | undefined
  readonly note?: string | undefined
}

export async function several(name: string, count: number, body: () => Promise<unknown>): Promise<Figure> {
  const times: number[] = []
  for (let at = 0; at < count; at++) times.push(await timedAsync(body))
  return figureOf(name, times)
}

export function figureOf(name: string, times: readonly number[]): Figure {
  return { name, unit: 'ms', value: percentile(times, 0.5), p99: percentile(times, 0.99) }
}
