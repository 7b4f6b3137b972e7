/** What the columns hold of one belief, read from the store in batches. */
import type { Instant } from '../../../base/clock.ts'
import type { Entry, EntryKey } from '../../../model/entry.ts'
import type { PartitionId } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { tablePages } from '../../../pipeline/table-pages.ts'
import type { StoreReader } from '../../../store/store.ts'
import { DIMENSIONS } from '../dimensions.ts'
import { DERIVATION_TYPES, VISIBILITIES } from '../model.ts'
import { type KeptDerivation, parentsIn, type VersionName } from '../record/references.ts'
import { visibilityOf } from '../record/version.ts'
import { BELIEFS } from '../tables.ts'

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
