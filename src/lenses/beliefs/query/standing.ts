/**
 * What matches are worth before their meaning (confidence, trust, recency), greatest first: a query by meaning needs to look
 * at the front of it only. Put in order by one pass over a thousand buckets, and kept for those who ask again: with time
 * trust and recency only fall, so that what is kept is never too low, and exact scores settle the rest.
 */
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { RankedEntries } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefColumns } from '../record/columns.ts'
import type { TrustStamp } from '../trust/stamp.ts'
import type { Matches } from './matches.ts'

const BUCKETS = 1024

export class Standing implements RankedEntries {
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

/** How many are kept: about .6 MB each over 100,000 beliefs. */
const KEPT = 64
/** After this, what is kept may be so much too high that choosing by it costs more than making it anew. */
const KEPT_MS = 3_600_000

/** What a standing depends on beside what its key says. */
interface StandingRequest {
  /** Asker, weights, domains: everything that a query says of priors. */
  readonly key: string
  /** The same object for as long as neither beliefs nor sight have changed. */
  readonly matches: Matches
  readonly trust: TrustStamp
  readonly asOf: Instant
}

export class Standings {
  readonly #kept = new Recent<string, { value: (StandingRequest & { readonly standing: Standing }) | null }>(KEPT)

  of(request: StandingRequest, columns: BeliefColumns, priors: () => Float32Array): Standing {
    const kept = this.#kept.get(request.key, () => ({ value: null }))
    const { value } = kept
    const age = value === null ? Number.NaN : request.asOf - value.asOf
    if (value?.matches === request.matches && value.trust.equals(request.trust) && age >= 0 && age < KEPT_MS) {
      return value.standing
    }
    const standing = new Standing(request.matches, columns, priors())
    kept.value = { ...request, standing }
    return standing
  }
}
