/** Where rows of one view come from, by the sources that are asked, and whom the requester is shown to hold them. */
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefSource, ScopeKind } from '../model.ts'
import type { Guest } from '../nodes/guest.ts'
import { federationTarget, type TrustedAs } from '../trust/trust-in.ts'
import type { EnabledSources, Requester } from './requester.ts'
import { type ShowView, shownHolder } from './show.ts'

export class RowOrigins {
  /** Whether trust in some rows may be trust in another than their holder. */
  readonly haveOthersTrusted: boolean
  readonly #view: ShowView
  readonly #enabled: EnabledSources
  /** Which sources are left for what is not local. */
  readonly #others: EnabledSources
  /** By number of the holder and federation: making a pseudonym is dearer than looking it up. */
  readonly #shown = new Map<string, string | null>()

  constructor(view: ShowView, enabled: EnabledSources) {
    this.haveOthersTrusted = view.requester.federations.length > 0 || view.guests !== undefined
    this.#view = view
    this.#enabled = enabled
    this.#others = { ...enabled, local: false }
  }

  /** `source`: the row's number of it. */
  sourceOf(row: number, source: number): BeliefSource {
    const found = this.guest(row)?.source ?? this.#from(row, source === LOCAL ? this.#enabled : this.#others)
    if (found === null) throw new Error('invariant broken: a match without a source')
    return found
  }

  /** Null: not at all. */
  holderShown(row: number, source: number): string | null {
    const { columns } = this.#view
    const guest = this.guest(row)
    if (guest !== null) return guest.belief.holder_id
    if (source !== FEDERATED) return columns.holderOf(row)
    const from = this.sourceOf(row, source)
    const key = `${columns.arrays.holders[row]} ${from.id}`
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const shown = shownHolder(this.#view, columns.holderOf(row), from)
    this.#shown.set(key, shown)
    return shown
  }

  /** Whose trust counts in place of trust in the row's holder; null: the holder's own. */
  trustedAs(row: number, source: number): TrustedAs | null {
    if (!this.haveOthersTrusted) return null
    const guest = this.guest(row)
    if (guest !== null) return trustedAsGuest(guest)
    if (source !== FEDERATED) return null
    const { columns, requester } = this.#view
    const from = this.#from(row, this.#others)
    return from === null ? null : trustedThrough(requester, from, columns.holderOf(row))
  }

  /** What came from another node as this row; null: it is of this one. */
  guest(row: number): Guest | null {
    const { guests, columns } = this.#view
    return guests?.get(columns.arrays.entries[row] as EntryKey) ?? null
  }

  #from(row: number, enabled: EnabledSources): BeliefSource | null {
    const { columns, requester } = this.#view
    return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled)
  }
}

/**
 * Whose trust counts of a belief that comes from there (BQ-104): of what others share through a federation trust in the
 * federation, or where it has pseudonyms the band of trust in the holder. Null: trust in the holder.
 */
export function trustedThrough(requester: Requester, { kind, id }: BeliefSource, holder: string): TrustedAs | null {
  if (kind !== 'federated' || id === null || holder === requester.id) return null
  return { target: federationTarget(id), member: requester.isStrict(id) ? null : holder }
}

/** Of a belief that came from another node: its federation or its holder (BQ-126). */
export function trustedAsGuest({ source, belief }: Guest): TrustedAs {
  const target = source.kind === 'federated' ? federationTarget(source.id as string) : (belief.holder_id as string)
  return { target, member: null }
}

export const LOCAL = 1
export const FEDERATED = 2
export const NETWORK = 3

export const SOURCE_NUMBERS: Readonly<Record<ScopeKind, number>> = {
  local: LOCAL,
  federated: FEDERATED,
  network: NETWORK,
}
