/** The numbers of all current beliefs by row, in typed arrays that grow together. */
import type { Instant } from '../../../base/clock.ts'
import { textHash } from '../../../base/text-hash.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { tablePages } from '../../../pipeline/many-rows.ts'
import type { StoreReader } from '../../../store/store.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { type KeptDerivation, parentsIn, type VersionName, visibilityOf } from '../record/version.ts'
import { BELIEFS } from '../tables.ts'

/** What the columns hold of one belief, read from the store in batches. */
export interface BeliefRow {
  readonly entry: EntryKey
  readonly partition: PartitionId
  readonly id: string
  readonly holder: string
  /** Id of the first version. */
  readonly chain: string
  readonly contentHash: string
  readonly createdAt: Instant
  /** Infinite where there is no bound. */
  readonly validFrom: number
  readonly validUntil: number
  /** In the order of `DIMENSIONS`; NaN: not known. */
  readonly confidence: readonly number[]
  /** Places in `DERIVATION_TYPES` and `VISIBILITIES`. */
  readonly derivation: number
  readonly visibility: number
  /** JSON list, as it is stored. */
  readonly domains: string
  /** What primary and supporting sources name, each once. */
  readonly parents: readonly VersionName[]
}

/** Entries read at once: their contents come along. Some milliseconds of work. */
const PAGE = 250

/** Those of these entries that are beliefs; null: all there are, by key ascending. Each page is read when it is taken. */
export function* readBeliefRows(
  reader: StoreReader,
  entries: readonly EntryKey[] | null,
): Generator<readonly BeliefRow[]> {
  for (const rows of aspectRows(reader, entries)) {
    const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
    yield reader.entries([...byEntry.keys()]).map(entry => beliefRow(entry, byEntry.get(entry.key) as Row))
  }
}

function* aspectRows(reader: StoreReader, entries: readonly EntryKey[] | null): Generator<readonly Row[]> {
  if (entries === null) return yield* tablePages(reader, BELIEFS, COLUMNS, PAGE)
  for (let at = 0; at < entries.length; at += PAGE) {
    yield reader.table(BELIEFS).scan({}, { entries: entries.slice(at, at + PAGE), columns: COLUMNS })
  }
}

const COLUMNS: readonly string[] = ['entry', 'chain', 'domains', 'derivation', ...DIMENSIONS]

function beliefRow(entry: Entry, row: Row): BeliefRow {
  const derivation = JSON.parse(row['derivation'] as string) as KeptDerivation
  return {
    entry: entry.key,
    partition: entry.partition,
    id: entry.id,
    holder: entry.audience.holder,
    chain: row['chain'] as string,
    contentHash: entry.contentHash,
    createdAt: entry.createdAt,
    validFrom: entry.validFrom ?? Number.NEGATIVE_INFINITY,
    validUntil: entry.validUntil ?? Number.POSITIVE_INFINITY,
    confidence: DIMENSIONS.map(name => (row[name] as number | null) ?? Number.NaN),
    derivation: DERIVATION_TYPES.indexOf(derivation.type),
    visibility: VISIBILITIES.indexOf(visibilityOf(entry)),
    domains: row['domains'] as string,
    parents: parentsIn(derivation, entry.audience.holder),
  }
}

/** Of a string in V8 with one byte a character, and of its place in a map. */
const BYTES_EACH = 24 + 48

/** Texts as small numbers, counted, so that the number of a text that nobody uses any more is given to another. */
export class Interned {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []
  #characters = 0
  #given = 0

  /** One more than the highest number given. */
  get length(): number {
    return this.#texts.length
  }

  get size(): number {
    return this.#numbers.size
  }

  /** How often a number was given to a text: as long as that does not change, numbers mean what they meant. */
  get given(): number {
    return this.#given
  }

  get byteLength(): number {
    return this.#characters + this.#numbers.size * BYTES_EACH + this.#texts.length * 16
  }

  /** The number of a text, now used once more. */
  take(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) {
      this.#uses[known] = (this.#uses[known] as number) + 1
      return known
    }
    const number = this.#free.pop() ?? this.#texts.length
    this.#texts[number] = text
    this.#uses[number] = 1
    this.#numbers.set(text, number)
    this.#given++
    this.#characters += text.length
    return number
  }

  /** One use less; true when that was the last. */
  leave(number: number): boolean {
    const uses = (this.#uses[number] as number) - 1
    this.#uses[number] = uses
    if (uses > 0) return false
    const text = this.#texts[number] as string
    this.#numbers.delete(text)
    this.#characters -= text.length
    this.#free.push(number)
    return true
  }

  /** -1: nobody uses it. */
  numberOf(text: string): number {
    return this.#numbers.get(text) ?? -1
  }

  /** Of a number in use; of one that is not, what it meant last: see `given`. */
  text(number: number): string {
    return this.#texts[number] as string
  }
}

/** What one row holds of each. */
interface TextNumbers {
  readonly id: number
  readonly holder: number
  readonly content: number
  readonly domainSet: number
}

/** The texts that columns hold as numbers: ids, holders, contents and sets of domains. */
export class ColumnTexts {
  readonly #load: number
  readonly #ids = new Interned()
  readonly #holders = new Interned()
  readonly #contents = new Interned()
  readonly #domainSets = new Interned()
  /** By number of the domain set; made when first asked for. */
  readonly #domainLists: (readonly string[] | null)[] = []

  /** `load`: how often all was read before, and numbers were given anew. */
  constructor(load: number) {
    this.#load = load
  }

  get byteLength(): number {
    const texts = [this.#ids, this.#holders, this.#contents, this.#domainSets]
    return texts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** One more than any number of each: for arrays by them. */
  get bounds(): Readonly<Record<'holders' | 'domainSets', number>> {
    return { holders: this.#holders.length, domainSets: this.#domainSets.length }
  }

  id(number: number): string {
    return this.#ids.text(number)
  }

  /** -1: no belief has this id, and none names it as a parent. */
  idNumber(id: string): number {
    return this.#ids.numberOf(id)
  }

  holder(number: number): string {
    return this.#holders.text(number)
  }

  /** -1: holds no belief, and none names one of this holder's. */
  holderNumber(holder: string): number {
    return this.#holders.numberOf(holder)
  }

  /** As long as it is the same, numbers of holders mean what they meant. */
  get holdersMark(): string {
    return `${this.#load}.${this.#holders.given}`
  }

  /** Tells contents apart: of equal ones it is equal. */
  content(number: number): string {
    return this.#contents.text(number)
  }

  /** Normalised domains, as they were written. */
  domainSet(number: number): readonly string[] {
    const known = this.#domainLists[number] ?? null
    if (known !== null) return known
    const made = JSON.parse(this.#domainSets.text(number)) as readonly string[]
    this.#domainLists[number] = made
    return made
  }

  /** Numbers of a belief's texts, each now used once more. */
  take({ id, holder, contentHash, domains }: BeliefRow): TextNumbers {
    return {
      id: this.#ids.take(id),
      holder: this.#holders.take(holder),
      content: this.#contents.take(packed(contentHash)),
      domainSet: this.#domainSets.take(domains),
    }
  }

  leave({ id, holder, content, domainSet }: TextNumbers): void {
    this.#ids.leave(id)
    this.#holders.leave(holder)
    this.#contents.leave(content)
    if (this.#domainSets.leave(domainSet)) this.#domainLists[domainSet] = null
  }

  /** In pairs: number of the holder, number of the id. */
  takeNames(names: readonly VersionName[]): Int32Array {
    return Int32Array.from(names.flatMap(({ holder, id }) => [this.#holders.take(holder), this.#ids.take(id)]))
  }

  leaveNames(pairs: Int32Array): void {
    for (const [at, number] of pairs.entries()) (at % 2 === 0 ? this.#holders : this.#ids).leave(number)
  }
}

/** A hexadecimal hash as a text of half the length. */
function packed(hash: string): string {
  return Buffer.from(hash, 'hex').toString('latin1')
}

export const DIMENSION_COUNT: number = DIMENSIONS.length
/** Where the freshness stands among the dimensions of a row. */
export const FRESHNESS: number = DIMENSIONS.indexOf('temporal_freshness')

/** Replaced as a whole when there are more rows than fit: hold it no longer than one question. */
export interface ColumnArrays {
  /** Key; -1: a free row, of which nothing else means anything. */
  readonly entries: Int32Array
  /** -1 in a free row, so that a loop over partitions in sight passes it over. */
  readonly partitions: Int32Array
  /** Numbers of texts: see `ColumnTexts`. */
  readonly ids: Int32Array
  readonly holders: Int32Array
  readonly contents: Int32Array
  readonly domainSets: Int32Array
  /** Six a row, in the order of `DIMENSIONS`; NaN: not known. */
  readonly confidences: Float64Array
  /** Instants; bounds that there are not are infinite. */
  readonly created: Float64Array
  readonly validFrom: Float64Array
  readonly validUntil: Float64Array
  /** Places in `DERIVATION_TYPES` and `VISIBILITIES`. */
  readonly derivations: Uint8Array
  readonly visibilities: Uint8Array
  /** Two numbers a row, in every process the same: hashes of id and content, and of what counts in scores. Not of the holder. */
  readonly marks: Uint32Array
}

/** Of a row: eight ints, nine doubles, two bytes. */
export const ROW_BYTES: number = 8 * 4 + (DIMENSION_COUNT + 3) * 8 + 2

export function newArrays(capacity: number): ColumnArrays {
  return {
    entries: new Int32Array(capacity).fill(-1),
    partitions: new Int32Array(capacity).fill(-1),
    ids: new Int32Array(capacity),
    holders: new Int32Array(capacity),
    contents: new Int32Array(capacity),
    domainSets: new Int32Array(capacity),
    confidences: new Float64Array(capacity * DIMENSION_COUNT),
    created: new Float64Array(capacity),
    validFrom: new Float64Array(capacity),
    validUntil: new Float64Array(capacity),
    derivations: new Uint8Array(capacity),
    visibilities: new Uint8Array(capacity),
    marks: new Uint32Array(capacity * 2),
  }
}

export function grownArrays(from: ColumnArrays, capacity: number): ColumnArrays {
  const into = newArrays(capacity)
  // The cast: both have the same arrays under the same names.
  for (const [name, array] of Object.entries(into)) array.set((from as unknown as Record<string, typeof array>)[name])
  return into
}

export function setRow(to: ColumnArrays, row: number, belief: BeliefRow, numbers: TextNumbers): void {
  to.entries[row] = belief.entry
  to.partitions[row] = belief.partition
  to.ids[row] = numbers.id
  to.holders[row] = numbers.holder
  to.contents[row] = numbers.content
  to.domainSets[row] = numbers.domainSet
  to.confidences.set(belief.confidence, row * DIMENSION_COUNT)
  to.created[row] = belief.createdAt
  to.validFrom[row] = belief.validFrom
  to.validUntil[row] = belief.validUntil
  to.derivations[row] = belief.derivation
  to.visibilities[row] = belief.visibility
  to.marks[row * 2] = textHash(belief.id, textHash(belief.contentHash))
  to.marks[row * 2 + 1] = textHash(`${belief.createdAt} ${belief.confidence} ${belief.domains}`)
}

/** What the row held, which is free from now on. */
export function freeRow(
  of: ColumnArrays,
  row: number,
): { readonly partition: PartitionId; readonly numbers: TextNumbers } {
  const held = (numbers: Int32Array) => numbers[row] as number
  const partition = held(of.partitions)
  of.entries[row] = -1
  of.partitions[row] = -1
  const numbers = { id: held(of.ids), holder: held(of.holders), content: held(of.contents) }
  return { partition, numbers: { ...numbers, domainSet: held(of.domainSets) } }
}
