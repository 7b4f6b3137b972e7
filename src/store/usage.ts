/**
 * How many bytes the entries of a holder take: kept in a row of their own from the first time that somebody asks, so that
 * asking again costs one row and deleting frees what was deleted. Not of the local owner, who has no quota.
 */
import { canonicalJson } from '../base/canonical.ts'
import type { EntryDraft, EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { OWNER } from '../model/partition.ts'
import type { Row } from '../model/table.ts'
import { USAGE } from './core-tables.ts'
import type { StoreReader, StoreWriter } from './store.ts'

interface EntryChange {
  readonly key: EntryKey
  readonly holder: string
  /** Read only where it is counted. */
  readonly before: () => Sized | undefined
  readonly after: Sized | undefined
}

type Sized = Pick<EntryDraft, 'title' | 'content' | 'tags' | 'metadata'>

/** All remote keys that are no agent here count as one holder, since anybody makes as many as he likes. */
const KEYS = 'did:key:'

/** Keys from which on entries are not counted yet; this one: all are counted. */
const ALL_COUNTED = Number.MAX_SAFE_INTEGER

/**
 * Counts a change of one entry into the row of its holder, where there is one. Called by every store within `put` and
 * `delete`, with what was there and what is there now; `read` finds rows without making the table.
 */
export function countChange(
  read: Pick<StoreReader, 'table'>,
  writer: Pick<StoreWriter, 'table'>,
  { key, holder, before, after }: EntryChange,
): void {
  if (holder === OWNER) return
  const row = read.table(USAGE).get({ holder: countedAs(holder) })
  if (row === undefined || key > (row['counted_to'] as number)) return
  try {
    const was = before()
    const bytes = (row['bytes'] as number) + (after ? bytesOf(after) : 0) - (was ? bytesOf(was) : 0)
    writer.table(USAGE).put({ ...row, bytes })
  } catch (error) {
    // What is damaged cannot be measured, and can be deleted all the same: the next look counts all of them again.
    if (!(error instanceof QuerentError && error.code === 'store_corrupt')) throw error
    writer.table(USAGE).delete({ holder: countedAs(holder) })
  }
}

/** Bytes counted so far; null: not all entries were looked at yet, and `countMore` goes on. */
export function heldBytes(reader: Pick<StoreReader, 'table'>, holder: string): number | null {
  const row = reader.table(USAGE).get({ holder: countedAs(holder) })
  return row?.['counted_to'] === ALL_COUNTED ? (row['bytes'] as number) : null
}

/** Counts up to `most` further entries of the store, oldest first. After enough calls `heldBytes` is a number. */
export function countMore(writer: StoreWriter, holder: string, most: number): void {
  const name = countedAs(holder)
  const row: Row = writer.table(USAGE).get({ holder: name }) ?? { holder: name, bytes: 0, counted_to: 0 }
  if (row['counted_to'] === ALL_COUNTED) return
  const keys = writer.scanEntries(row['counted_to'] as number, most)
  const own = writer.identities(keys).filter(identity => countedAs(identity.holder) === name)
  const bytes = writer.entries(own.map(({ key }) => key)).reduce((sum, entry) => sum + bytesOf(entry), 0)
  const to = keys.length < most ? ALL_COUNTED : (keys.at(-1) as number)
  writer.table(USAGE).put({ ...row, bytes: (row['bytes'] as number) + bytes, counted_to: to })
}

function countedAs(holder: string): string {
  return holder.startsWith(KEYS) ? KEYS : holder
}

/** UTF-8 bytes of what its holder wrote. */
function bytesOf({ title, content, tags, metadata }: Sized): number {
  return [title, content, canonicalJson([tags, metadata])].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
