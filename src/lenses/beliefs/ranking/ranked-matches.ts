/**
 * Matches with what they are worth before their meaning, greatest first: put in order by one pass over a thousand buckets,
 * which is all the order that choosing the best needs.
 */
import type { RankedEntries } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches } from '../matching/matches.ts'

const BUCKETS = 1024

export class RankedMatches implements RankedEntries {
  readonly entries: Int32Array
  /** Falls from bucket to bucket, not within one. */
  readonly priors: Float32Array
  readonly #greatest: number
  /** Buckets for a difference of 1. */
  readonly #scale: number
  /** Where each bucket ends. */
  readonly #ends: Int32Array

  /** `priors` by place in the matches. */
  constructor({ rows, count }: Matches, { arrays }: BeliefColumns, priors: Float32Array) {
    const { least, greatest } = rangeOf(priors)
    this.#greatest = greatest
    this.#scale = greatest > least ? (BUCKETS - 1) / (greatest - least) : 0
    this.entries = new Int32Array(count)
    this.priors = new Float32Array(count)
    const next = this.#starts(priors)
    for (let place = 0; place < count; place++) {
      const prior = priors[place] as number
      const bucket = this.#bucketOf(prior)
      const at = next[bucket] as number
      next[bucket] = at + 1
      this.entries[at] = arrays.entries[rows[place] as number] as EntryKey
      this.priors[at] = prior
    }
    this.#ends = next
  }

  get size(): number {
    return this.entries.length
  }

  /** So many from the front hold all that reach this number. */
  reach(least: number): number {
    return least > this.#greatest ? 0 : (this.#ends[this.#bucketOf(least)] as number)
  }

  #starts(priors: Float32Array): Int32Array {
    const starts = new Int32Array(BUCKETS)
    for (let place = 0; place < priors.length; place++) {
      const bucket = this.#bucketOf(priors[place] as number)
      starts[bucket] = (starts[bucket] as number) + 1
    }
    let before = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = starts[bucket] as number
      starts[bucket] = before
      before += count
    }
    return starts
  }

  /** 0 for the greatest. */
  #bucketOf(prior: number): number {
    return Math.min(BUCKETS - 1, Math.max(0, Math.floor((this.#greatest - prior) * this.#scale) || 0))
  }
}

function rangeOf(values: Float32Array): { readonly least: number; readonly greatest: number } {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  return { least, greatest }
}
