/**
 * The numeric fields of all current beliefs in typed arrays with one row per belief, and tables of the texts (ids, holders, contents,
 * domains) that are stored in the arrays as numbers.
 */
import type { ColumnArrays } from '../../../base/columns.ts'
import { textHash } from '../../../base/text-hash.ts'
import type { Entry } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { type KeptDerivation, parentsIn, visibilityOf } from '../record/version.ts'

/** Assigns consecutive numbers from 0 to texts. A text keeps its number until all beliefs are read again from the store. */
class Numbered {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []

  /** Number of texts that have a number; one more than the highest number. */
  get length(): number {
    return this.#texts.length
  }

  take(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }

  /** Number of a text; -1: no belief has had this text. A number may remain after the belief that used the text was deleted. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1
  }

  text(number: number): string {
    return this.#texts[number] as string
  }
}

/** The texts that the columns of beliefs store as numbers: ids, holders, contents and sets of domains. */
export class ColumnTexts {
  readonly #load: number
  readonly #ids = new Numbered()
  readonly #holders = new Numbered()
  readonly #contents = new Numbered()
  readonly #domainSets = new Numbered()
  /** Lists of domains, by number of the domain set; each is parsed from JSON when it is first needed. */
  readonly #domainLists: (readonly string[])[] = []

  /** `load`: how many times all beliefs have been read from the store; each reading gives the texts new numbers. */
  constructor(load: number) {
    this.#load = load
  }

  /**
   * For holders and for domain sets, the highest assigned number plus one, which is the length that an array indexed by these numbers
   * needs.
   */
  get bounds(): Readonly<Record<'holders' | 'domainSets', number>> {
    return { holders: this.#holders.length, domainSets: this.#domainSets.length }
  }

  id(number: number): string {
    return this.#ids.text(number)
  }

  /** Number of a belief id; -1: no belief has this id, and no belief names it as a source. */
  idNumber(id: string): number {
    return this.#ids.find(id)
  }

  holder(number: number): string {
    return this.#holders.text(number)
  }

  /** Number of a holder; -1: this holder has no beliefs, and no belief names one of this holder's beliefs as a source. */
  holderNumber(holder: string): number {
    return this.#holders.find(holder)
  }

  /**
   * A text from which cached data indexed by holder number can recognise that it is outdated: it changes when a new holder gets a number,
   * and when all beliefs are read again, which gives all holders new numbers.
   */
  get holdersMark(): string {
    return `${this.#load}.${this.#holders.length}`
  }

  /** Packed hash that identifies a content, given the content's number: equal exactly for equal contents. */
  content(number: number): string {
    return this.#contents.text(number)
  }

  /** Number of a content, given by its hash in hexadecimal; -1: no belief has this content. */
  contentNumber(hash: string): number {
    return this.#contents.find(shortHash(hash))
  }

  /** Domains of a domain set, in normal form and in the order in which the belief's writer gave them. */
  domainSet(number: number): readonly string[] {
    this.#domainLists[number] ??= JSON.parse(this.#domainSets.text(number)) as readonly string[]
    return this.#domainLists[number] as readonly string[]
  }

  /** Writes into a row the numbers that represent a belief's id, holder, content and domains. */
  setRow(arrays: BeliefArrays, row: number, { id, audience, contentHash }: Entry, domains: string): void {
    arrays.ids[row] = this.#ids.take(id)
    arrays.holders[row] = this.#holders.take(audience.holder)
    arrays.contents[row] = this.#contents.take(shortHash(contentHash))
    arrays.domainSets[row] = this.#domainSets.take(domains)
  }

  /**
   * The beliefs that a derivation names as primary or supporting sources, as a flat list of pairs: number of the holder, number of the id.
   */
  parents(derivation: KeptDerivation, writer: string): Int32Array {
    const named = parentsIn(derivation, writer)
    if (named.length === 0) return NONE
    return Int32Array.from(named.flatMap(({ holder, id }) => [this.#holders.take(holder), this.#ids.take(id)]))
  }
}

/** Packs a hexadecimal hash into a text of half the length, with one character per byte. */
function shortHash(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1')
}

export const NONE = new Int32Array(0)

export const DIMENSION_COUNT: number = DIMENSIONS.length
/** Index of the freshness dimension (`temporal_freshness`) among the confidence dimensions of a row. */
export const FRESHNESS: number = DIMENSIONS.indexOf('temporal_freshness')

export const BELIEF_COLUMNS = {
  /** Key of the belief's entry in the store, an integer; -1: this row is unused, and its other columns are meaningless. */
  entries: { of: Int32Array, empty: -1 },
  /**
   * Partition of the store that contains the belief. Partitions are the units of access: a requester sees all beliefs of a partition or
   * none. -1 in an unused row, so that a loop over visible partitions skips that row.
   */
  partitions: { of: Int32Array, empty: -1 },
  /** Columns of numbers that represent texts (id, holder, content, domain set); `ColumnTexts` has the texts. */
  ids: { of: Int32Array },
  holders: { of: Int32Array },
  contents: { of: Int32Array },
  domainSets: { of: Int32Array },
  /** The six confidence values of the belief, in the order of `DIMENSIONS`; NaN: unknown. */
  confidences: { of: Float64Array, width: DIMENSION_COUNT },
  /** Times of the belief: its creation, and the start and end of its validity; infinite where the validity is unbounded. */
  created: { of: Float64Array },
  validFrom: { of: Float64Array },
  validUntil: { of: Float64Array },
  /** Derivation type and visibility, as positions in the lists `DERIVATION_TYPES` and `VISIBILITIES`. */
  derivations: { of: Uint8Array },
  visibilities: { of: Uint8Array },
  /**
   * Two hashes of the belief, equal in every process: one of its id and content, one of the fields that affect its score. Neither includes
   * the holder.
   */
  marks: { of: Uint32Array, width: 2 },
  /** Links of two linked lists: the next row with an equal id, and the next row with an equal content; -1: this row is the last. */
  nextOfId: { of: Int32Array },
  nextOfContent: { of: Int32Array },
} as const

/**
 * The typed arrays of all belief columns. They are replaced by longer ones when the rows no longer fit, so a reference must not be kept
 * longer than one query.
 */
export type BeliefArrays = ColumnArrays<typeof BELIEF_COLUMNS>

/** Columns of the beliefs table that are read to fill a row, in addition to the fields of the belief's entry. */
export const ROW_COLUMNS: readonly string[] = ['entry', 'chain', 'domains', 'derivation', ...DIMENSIONS]

/**
 * Writes a belief's numeric fields into a row: confidence, times, derivation type, visibility. The numbers that represent texts are written
 * elsewhere.
 */
export function setNumbers(to: BeliefArrays, row: number, entry: Entry, aspect: Row, { type }: KeptDerivation): void {
  const confidence = DIMENSIONS.map(name => (aspect[name] as number | null) ?? Number.NaN)
  to.entries[row] = entry.key
  to.partitions[row] = entry.partition
  to.confidences.set(confidence, row * DIMENSION_COUNT)
  to.created[row] = entry.createdAt
  to.validFrom[row] = entry.validFrom ?? Number.NEGATIVE_INFINITY
  to.validUntil[row] = entry.validUntil ?? Number.POSITIVE_INFINITY
  to.derivations[row] = DERIVATION_TYPES.indexOf(type)
  to.visibilities[row] = VISIBILITIES.indexOf(visibilityOf(entry))
  to.marks[row * 2] = textHash(entry.id, textHash(entry.contentHash))
  to.marks[row * 2 + 1] = textHash(`${entry.createdAt} ${confidence} ${aspect['domains']}`)
}
