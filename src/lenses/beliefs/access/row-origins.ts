/** Where rows of one view come from, by the sources that are asked, and whom the requester is shown to hold them. */
import type { EntryKey } from '../../../model/entry.ts'
import type { BeliefSource } from '../model.ts'
import type { Guest } from '../nodes/guest.ts'
import { federationTarget } from '../trust/agent-arrays.ts'
import type { EnabledSources } from './requester.ts'
import { type ShowView, shownHolder } from './show.ts'
import { FEDERATED, LOCAL } from './source-numbers.ts'

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
    this.haveOthersTrusted = view.requester.hasStrictFederations || view.guests !== undefined
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

  /**
   * Whose trust counts in place of the trust in the row's holder; null: the holder's own. Of a federation that shows no
   * holders it is that in the federation (BQ-104), of a belief of another node that in its holder or federation (BQ-126).
   */
  trustedAs(row: number, source: number): string | null {
    if (!this.haveOthersTrusted) return null
    const guest = this.guest(row)
    if (guest !== null) return trustedAsGuest(guest)
    const strict = this.#strictFederation(row, source)
    return strict === null ? null : federationTarget(strict)
  }

  /** What came from another node as this row; null: it is of this one. */
  guest(row: number): Guest | null {
    const { guests, columns } = this.#view
    return guests?.get(columns.arrays.entries[row] as EntryKey) ?? null
  }

  /** The federation that the row comes through and that shows no holders; null: none such, or it is the requester's own. */
  #strictFederation(row: number, source: number): string | null {
    const { columns, requester } = this.#view
    if (!requester.hasStrictFederations || source !== FEDERATED) return null
    const through = this.#from(row, this.#others)?.id ?? null
    const isOwn = columns.holderOf(row) === requester.id
    return !isOwn && through !== null && requester.isStrict(through) ? through : null
  }

  #from(row: number, enabled: EnabledSources): BeliefSource | null {
    const { columns, requester } = this.#view
    return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled)
  }
}

/** Whom a requester trusts, or not, of a belief that came from another node. */
export function trustedAsGuest({ source, belief }: Guest): string {
  if (source.kind === 'federated') return federationTarget(source.id as string)
  return belief.holder_id as string
}
