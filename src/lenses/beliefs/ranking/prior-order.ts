/**
 * What matches are worth before their meaning (confidence, trust, recency), greatest first: a query by meaning needs to look
 * at the front of it only. Kept for those who ask again: with time trust and recency only fall, so that what is kept is never
 * too low, and exact scores settle the rest. What is written meanwhile stands beside it.
 */
import { Bitset } from '../../../base/bitset.ts'
import type { Instant } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import type { RankedEntries } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefColumns } from '../columns/columns.ts'
import type { Matches, MatchesToken } from '../matching/matches.ts'
import type { TrustStamp } from '../trust/stamp.ts'
import { RankedMatches } from './ranked-matches.ts'

/** Matches by their priors: a list that was made of them, or of what they were before some entries changed; and these entries. */
export class PriorOrder {
  readonly list: RankedMatches
  /** What came, or came to say something else, since the list was made; a few. */
  readonly extra: RankedEntries
  /** What the list is of, as far as `since` says nothing else. */
  readonly #matches: Matches
  readonly #since: ReadonlySet<EntryKey>

  constructor(list: RankedMatches, matches: Matches, since: ReadonlySet<EntryKey>, extra: RankedEntries) {
    this.list = list
    this.extra = extra
    this.#matches = matches
    this.#since = since
  }

  /** Which entries of the list count, of these matches or of some of them; undefined: all do. */
  allowed(matches: Matches): Bitset | undefined {
    if (this.#since.size > 0) return matches.bits.without(Bitset.of(this.#since))
    return matches === this.#matches ? undefined : matches.bits
  }

  /** Entries that are among these matches, with their priors. */
  *of(matches: Matches): Generator<readonly [entry: EntryKey, prior: number]> {
    const allowed = this.allowed(matches)
    const { entries, priors } = this.list
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as EntryKey
      if (allowed?.has(entry) ?? true) yield [entry, priors[at] as number]
    }
    yield* this.extraOf(matches)
  }

  *extraOf({ bits }: Matches): Generator<readonly [entry: EntryKey, prior: number]> {
    for (const [at, entry] of this.extra.entries.entries()) {
      if (bits.has(entry)) yield [entry, this.extra.priors[at] as number]
    }
  }
}

/** How many are kept: about .8 MB each over 100,000 beliefs. */
const KEPT = 64
/** After this, what is kept may be so much too high that choosing by it costs more than making it anew. */
const KEPT_MS = 3_600_000

/** What an order depends on beside what its key says. */
interface PriorOrderRequest {
  /** Requester, weights, domains: everything that a query says of priors. */
  readonly key: string
  /** All in scope: the same object for as long as neither beliefs nor sight have changed. */
  readonly matches: Matches
  readonly trust: TrustStamp
  readonly asOf: Instant
}

interface KeptPriorOrder {
  readonly root: MatchesToken
  readonly trust: TrustStamp
  /** Of the list. */
  readonly asOf: Instant
  /** Of what came since: what is kept is too low before it. */
  readonly latest: Instant
  readonly matches: Matches
  readonly order: PriorOrder
}

/** What a row is worth before its meaning. */
interface Priors {
  /** Of all in scope, by place. */
  all(): Float32Array
  /** Of one of them. */
  of(row: number, source: number): number
}

export class PriorOrders {
  readonly #kept = new Recent<string, { value: KeptPriorOrder | null }>(KEPT)

  of(request: PriorOrderRequest, columns: BeliefColumns, priors: Priors): PriorOrder {
    const { key, matches, trust, asOf } = request
    const { root } = matches
    const kept = this.#kept.get(key, () => ({ value: null }))
    const { value } = kept
    const isGood = value?.root === root.token && value.trust.equals(trust) && isRecent(value, asOf)
    if (isGood && value.matches === matches) return value.order
    kept.value = isGood
      ? { ...value, latest: asOf, matches, order: followed(value.order, matches, columns, priors) }
      : { root: root.token, trust, asOf, latest: asOf, matches, order: priorOrderOf(matches, columns, priors) }
    return kept.value.order
  }
}

function isRecent({ asOf, latest }: KeptPriorOrder, now: Instant): boolean {
  return now >= latest && now - asOf < KEPT_MS
}

/** With a list of all matches. */
export function priorOrderOf(matches: Matches, columns: BeliefColumns, priors: Priors): PriorOrder {
  return new PriorOrder(new RankedMatches(matches, columns, priors.all()), matches, NOTHING, NO_ENTRIES)
}

const NOTHING: ReadonlySet<EntryKey> = new Set()
const NO_ENTRIES: RankedEntries = { entries: new Int32Array(0), priors: new Float32Array(0) }

function followed({ list }: PriorOrder, matches: Matches, columns: BeliefColumns, priors: Priors): PriorOrder {
  const { since } = matches.root
  const rows = Int32Array.from(since, entry => columns.rowOf(entry)).filter(row => row !== -1 && matches.has(row))
  const entries = rows.map(row => columns.arrays.entries[row] as EntryKey)
  const extra = { entries, priors: Float32Array.from(rows, row => priors.of(row, matches.sourceOf(row))) }
  return new PriorOrder(list, matches, since, extra)
}
