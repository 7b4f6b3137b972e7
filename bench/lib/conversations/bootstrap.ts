/** 95 % intervals of a mean by the bootstrap, the same in every run. */
import { seededUniform } from '../../../test/support/seeded.ts'

export interface Interval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

const ROUNDS = 2000
const SEED = 11

/** Of the mean of all values. Whole groups are drawn: what is alike because it is of one group is drawn together. */
export function intervalOf(groups: readonly (readonly number[])[]): Interval {
  const uniform = seededUniform(SEED)
  const sums = groups.map(values => values.reduce((total, value) => total + value, 0))
  const means: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    let [sum, count] = [0, 0]
    for (let drawn = 0; drawn < groups.length; drawn++) {
      const group = Math.floor(uniform() * groups.length)
      sum += sums[group] as number
      count += (groups[group] as readonly number[]).length
    }
    if (count > 0) means.push(sum / count)
  }
  means.sort((a, b) => a - b)
  const at = (share: number) => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? Number.NaN
  const count = groups.reduce((total, values) => total + values.length, 0)
  return { mean: sums.reduce((total, sum) => total + sum, 0) / count, low: at(0.025), high: at(0.975) }
}
