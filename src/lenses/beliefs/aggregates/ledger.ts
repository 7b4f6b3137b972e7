/**
 * What was told of which topic in an epoch, and what each member has paid for it (BQ-105). A member pays once for a topic,
 * whatever comes of it and whoever asked first: so the price tells neither what there is nor who else has asked.
 */
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { AGGREGATE_ANSWERS, AGGREGATE_CHARGES } from '../tables.ts'
import type { Epoch } from './epoch.ts'
import type { Summary } from './mechanism.ts'

/** One topic of one federation in one epoch. */
export interface Place {
  readonly federation: string
  readonly epoch: Epoch
  /** `topicKey`. */
  readonly topic: string
}

/** Undefined: it was not asked for yet. Null: nothing is told of it. */
export function keptSummary(reader: StoreReader, place: Place): Summary | undefined {
  const row = reader.table(AGGREGATE_ANSWERS).get({ ...place })
  if (row === undefined) return undefined
  const { member_count: members = null, belief_count: beliefs = null } = row
  if (members === null || beliefs === null) return null
  return { member_count: members as number, belief_count: beliefs as number }
}

export function keepSummary(writer: StoreWriter, place: Place, summary: Summary): void {
  const { member_count, belief_count } = summary ?? { member_count: null, belief_count: null }
  writer.table(AGGREGATE_ANSWERS).put({ ...place, member_count, belief_count })
}

export function hasPaid(reader: StoreReader, place: Place, member: string): boolean {
  return reader.table(AGGREGATE_CHARGES).get({ ...place, member }) !== undefined
}

/** In thousandths of ε. */
export function spentBy(reader: StoreReader, { federation, epoch }: Omit<Place, 'topic'>, member: string): number {
  const rows = reader.table(AGGREGATE_CHARGES).scan({ federation, epoch, member }, { columns: ['epsilon'] })
  return rows.reduce((sum, row) => sum + (row['epsilon'] as number), 0)
}

export function charge(writer: StoreWriter, place: Place, member: string, epsilon: number): void {
  writer.table(AGGREGATE_CHARGES).put({ ...place, member, epsilon })
}

/** The day before stays: a clock that is set back a little opens no budget anew. */
export function forgetBefore(writer: StoreWriter, { federation, epoch }: Omit<Place, 'topic'>): void {
  for (const declaration of [AGGREGATE_ANSWERS, AGGREGATE_CHARGES]) {
    const table = writer.table(declaration)
    for (;;) {
      // The oldest comes first: by federation, then epoch.
      const oldest = table.scan({ federation }, { columns: ['epoch'], limit: 1 })[0]?.['epoch'] as Epoch | undefined
      if (oldest === undefined || oldest >= epoch - 1) break
      table.delete({ federation, epoch: oldest })
    }
  }
}
