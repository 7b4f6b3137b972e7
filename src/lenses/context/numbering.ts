/**
 * The numbers that callers name concepts and links by (decision 012). What one viewer cannot see must not show in the numbers
 * of what it can: so each audience counts by itself. A number is `sequence * 2^32 + count`; the local owner's own sequence is
 * 0, so that its numbers are 1, 2, 3. Within a sequence numbers ascend, and none is given twice, whatever is deleted.
 */
import { sha256 } from '../../base/canonical.ts'
import { type Audience, audience, partitionKey } from '../../model/partition.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { counter, setCounter } from './counters.ts'

export type Numbered = 'concept' | 'edge'

const RANGE = 2 ** 32
/** So many fit below what a number holds exactly. */
const SEQUENCES = 2 ** 21
const SALT = 'numbering_salt'

const OWN = partitionKey(audience('private'))

/**
 * Which sequence counts what these audiences see together. Two audiences may fall into one sequence (1 in 2^21): numbers
 * stay unique, and each then learns how many the other was given. The salt keeps anybody from choosing a name for that.
 */
export function sequenceOf(reader: StoreReader, audiences: readonly Audience[]): number {
  const keys = [...new Set(audiences.map(partitionKey))].sort()
  if (keys.every(key => key === OWN)) return 0
  const salted = [counter(reader, SALT) ?? 0, ...keys].join('\n')
  return 1 + (Number.parseInt(sha256(salted).slice(0, 13), 16) % (SEQUENCES - 1))
}

/** The first of so many numbers in a row. */
export function nextNumbers(writer: StoreWriter, of: Numbered, count: number, sequence = 0): number {
  const name = counterName(of, sequence)
  const next = counter(writer, name) ?? 1
  setCounter(writer, name, next + count)
  return sequence * RANGE + next
}

export function counterName(of: Numbered, sequence: number): string {
  return sequence === 0 ? `next_${of}` : `next_${of} ${sequence}`
}

/** Which sequence a number is of, and where it stands there. */
export function placeOf(number: number): { readonly sequence: number; readonly count: number } {
  return { sequence: Math.floor(number / RANGE), count: number % RANGE }
}

/** Once a store. */
export function saltNumbers(writer: StoreWriter, random: (bytes: number) => Uint8Array): void {
  if (counter(writer, SALT) === undefined) setCounter(writer, SALT, Buffer.from(random(6)).readUIntBE(0, 6))
}
