/** The numbers of all current beliefs by row, in typed arrays that grow together, and the texts that some of the numbers stand for. */
import type { ColumnArrays } from '../../../base/columns.ts'
import { textHash } from '../../../base/text-hash.ts'
import type { Entry } from '../../../model/entry.ts'
import type { Row } from '../../../model/table.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { type KeptDerivation, parentsIn, visibilityOf } from '../record/version.ts'

/** Assigns small numbers to texts, from 0. A text keeps its number until all columns are read again. */
class Numbered {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []

  /** The highest number plus one. */
  get length(): number {
    return this.#texts.length
  }

  take(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }

  /** Number of a text; -1: no belief has it. A belief that had it may have been deleted. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1
  }

  text(number: number): string {
    return this.#texts[number] as string
  }
}

/** The texts that columns store as numbers: ids, holders, contents and sets of domains. */
export class ColumnTexts {
  readonly #load: number
  readonly #ids = new Numbered()
  readonly #holders = new Numbered()
  readonly #contents = new Numbered()
  readonly #domainSets = new Numbered()
  /** Domain lists by number of the domain set, parsed on first use. */
  readonly #domainLists: (readonly string[])[] = []

  /** `load`: how often everything has been read before, since each time the numbers change. */
  constructor(load: number) {
    this.#load = load
  }

  /** The highest number plus one, for arrays that are indexed by these numbers. */
  get bounds(): Readonly<Record<'holders' | 'domainSets', number>> {
    return { holders: this.#holders.length, domainSets: this.#domainSets.length }
  }

  id(number: number): string {
    return this.#ids.text(number)
  }

  /** Number of an id; -1: no belief has this id, and none names it as a parent. */
  idNumber(id: string): number {
    return this.#ids.find(id)
  }

  holder(number: number): string {
    return this.#holders.text(number)
  }

  /** Number of a holder; -1: this holder has no beliefs, and no belief names one of theirs. */
  holderNumber(holder: string): number {
    return this.#holders.find(holder)
  }

  /** Changes when there are new holders, or when the numbers of holders get another meaning. */
  get holdersMark(): string {
    return `${this.#load}.${this.#holders.length}`
  }

  /** An identifier of the content: equal for equal contents, different otherwise. */
  content(number: number): string {
    return this.#contents.text(number)
  }

  /** Number of a content by its hash; -1: no belief has it. */
  contentNumber(hash: string): number {
    return this.#contents.find(shortHash(hash))
  }

  /** Normalised domains, in the order in which they were written. */
  domainSet(number: number): readonly string[] {
    this.#domainLists[number] ??= JSON.parse(this.#domainSets.text(number)) as readonly string[]
    return this.#domainLists[number] as readonly string[]
  }

  /** Writes the numbers of a belief's id, holder, content and domains into a row. */
  setRow(arrays: BeliefArrays, row: number, { id, audience, contentHash }: Entry, domains: string): void {
    arrays.ids[row] = this.#ids.take(id)
    arrays.holders[row] = this.#holders.take(audience.holder)
    arrays.contents[row] = this.#contents.take(shortHash(contentHash))
    arrays.domainSets[row] = this.#domainSets.take(domains)
  }

  /** Beliefs named by primary and supporting sources, in pairs: number of the holder, number of the id. */
  parents(derivation: KeptDerivation, writer: string): Int32Array {
    const named = parentsIn(derivation, writer)
    if (named.length === 0) return NONE
    return Int32Array.from(named.flatMap(({ holder, id }) => [this.#holders.take(holder), this.#ids.take(id)]))
  }
}

/** A hexadecimal hash as a text of half the length, one character per byte. */
function shortHash(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1')
}

export const NONE = new Int32Array(0)

export const DIMENSION_COUNT: number = DIMENSIONS.length
/** Index of the freshness among the dimensions of a row. */
export const FRESHNESS: number = DIMENSIONS.indexOf('temporal_freshness')

export const BELIEF_COLUMNS = {
  /** Entry key; -1 marks a free row, whose other columns are meaningless. */
  entries: { of: Int32Array, empty: -1 },
  /** Partition of the row; -1 in a free row, so that a loop over visible partitions skips it. */
  partitions: { of: Int32Array, empty: -1 },
  /** Columns of numbers that stand for texts: see `ColumnTexts`. */
  ids: { of: Int32Array },
  holders: { of: Int32Array },
  contents: { of: Int32Array },
  domainSets: { of: Int32Array },
  /** Confidence dimensions in the order of `DIMENSIONS`; NaN: unknown. */
  confidences: { of: Float64Array, width: DIMENSION_COUNT },
  /** Columns of instants: creation, and the bounds of validity; a missing bound is infinite. */
  created: { of: Float64Array },
  validFrom: { of: Float64Array },
  validUntil: { of: Float64Array },
  /** Indexes in `DERIVATION_TYPES` and `VISIBILITIES`. */
  derivations: { of: Uint8Array },
  visibilities: { of: Uint8Array },
  /** Two hashes, equal in every process: one of id and content, one of the fields that scores use. The holder is not included. */
  marks: { of: Uint32Array, width: 2 },
  /** Next row with the same id, and next row with the same content; -1: this is the last. */
  nextOfId: { of: Int32Array },
  nextOfContent: { of: Int32Array },
} as const

/** The arrays are replaced when rows no longer fit: do not keep a reference longer than one query. */
export type BeliefArrays = ColumnArrays<typeof BELIEF_COLUMNS>

/** Columns of the table of beliefs that a row is made from, in addition to the entry. */
export const ROW_COLUMNS: readonly string[] = ['entry', 'chain', 'domains', 'derivation', ...DIMENSIONS]

/** Writes all numbers of a belief except those that stand for texts. */
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
