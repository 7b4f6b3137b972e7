/** The numbers of all current beliefs by row, in typed arrays that grow together. */
import { textHash } from '../../../base/text-hash.ts'
import type { PartitionId } from '../../../model/partition.ts'
import { DIMENSIONS } from '../dimensions.ts'
import type { BeliefRow } from './belief-rows.ts'
import type { TextNumbers } from './column-texts.ts'

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
  into.entries.set(from.entries)
  into.partitions.set(from.partitions)
  into.ids.set(from.ids)
  into.holders.set(from.holders)
  into.contents.set(from.contents)
  into.domainSets.set(from.domainSets)
  into.confidences.set(from.confidences)
  into.created.set(from.created)
  into.validFrom.set(from.validFrom)
  into.validUntil.set(from.validUntil)
  into.derivations.set(from.derivations)
  into.visibilities.set(from.visibilities)
  into.marks.set(from.marks)
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

/** What a row said that is free from now on. */
interface FreedRow {
  readonly partition: PartitionId
  readonly numbers: TextNumbers
}

export function freeRow(of: ColumnArrays, row: number): FreedRow {
  const freed: FreedRow = {
    partition: of.partitions[row] as PartitionId,
    numbers: {
      id: of.ids[row] as number,
      holder: of.holders[row] as number,
      content: of.contents[row] as number,
      domainSet: of.domainSets[row] as number,
    },
  }
  of.entries[row] = -1
  of.partitions[row] = -1
  return freed
}
