/** Where rows of one view come from, by the sources that are asked, and whom the requester is shown to hold them. */
import type { BeliefSource } from '../model.ts'
import type { EnabledSources } from './requester.ts'
import { type ShowView, shownHolder } from './show.ts'
import { FEDERATED, LOCAL } from './source-numbers.ts'

export class RowOrigins {
  /** Whether the requester meets anybody through a federation that shows no holders. */
  readonly hasStrictFederations: boolean
  readonly #view: ShowView
  readonly #enabled: EnabledSources
  /** Which sources are left for what is not local. */
  readonly #others: EnabledSources
  /** By number of the holder and federation: making a pseudonym is dearer than looking it up. */
  readonly #shown = new Map<string, string | null>()

  constructor(view: ShowView, enabled: EnabledSources) {
    this.hasStrictFederations = view.requester.hasStrictFederations
    this.#view = view
    this.#enabled = enabled
    this.#others = { ...enabled, local: false }
  }

  /** `source`: the row's number of it. */
  sourceOf(row: number, source: number): BeliefSource {
    const found = this.#from(row, source === LOCAL ? this.#enabled : this.#others)
    if (found === null) throw new Error('invariant broken: a match without a source')
    return found
  }

  /** Null: not at all. */
  holderShown(row: number, source: number): string | null {
    const { columns } = this.#view
    if (source !== FEDERATED) return columns.holderOf(row)
    const from = this.sourceOf(row, source)
    const key = `${columns.arrays.holders[row]} ${from.id}`
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const shown = shownHolder(this.#view, columns.holderOf(row), from)
    this.#shown.set(key, shown)
    return shown
  }

  /** The federation that the row comes through and that shows no holders; null: none such, or it is the requester's own. */
  strictFederation(row: number, source: number): string | null {
    if (!this.hasStrictFederations || source !== FEDERATED) return null
    const { columns, requester } = this.#view
    const through = this.#from(row, this.#others)?.id ?? null
    const isOwn = columns.holderOf(row) === requester.id
    return !isOwn && through !== null && requester.isStrict(through) ? through : null
  }

  #from(row: number, enabled: EnabledSources): BeliefSource | null {
    const { columns, requester } = this.#view
    return requester.sourceOf(columns.arrays.partitions[row] as number, columns.holderOf(row), enabled)
  }
}
