/** One record a fact: what the lens can answer with nothing but itself. */
import { sha256 } from '../../../base/canonical.ts'
import type { DomainRecord } from '../enrichment/domain.ts'
import { colorRecords } from './colors.ts'
import { instructionRecords } from './instructions.ts'
import { memoryRecords } from './memory.ts'
import { registerRecords, routineRecords } from './names.ts'

export function c64Corpus(): readonly DomainRecord[] {
  return [...registerRecords(), ...routineRecords(), ...instructionRecords(), ...colorRecords(), ...memoryRecords()]
}

/** Changes when any fact does: what was built from records of another version is built anew. */
export function corpusVersion(records: readonly DomainRecord[]): string {
  return sha256(JSON.stringify(records))
}
