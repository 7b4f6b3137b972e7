/**
 * Export as lines of JSON, lossless: entries with audience and times, access state, and the rows of every table. Vectors
 * and indexes are derived and not part of it.
 */
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Steps, Turns } from '../base/turns.ts'
import type { Lens, LensTransfer } from '../lenses/lens.ts'
import type { AccessState, Entry, EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import type { Audience } from '../model/partition.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import type { Store, StoreReader } from '../store/store.ts'
import type { ExportLine } from './engine.ts'

/** Entries, or rows, read at once: a few milliseconds of work. */
const PAGE = 100

/** What an export is made of. `lenses`: all that the store has tables of, for what they export otherwise. */
interface Exported {
  readonly store: Store
  readonly tables: readonly TableDeclaration[]
  readonly lenses: readonly Lens[]
}

/**
 * The lines of `exportLines` of the state that is committed when the first is taken, whatever is written before the last. No more
 * than a page of them is in memory where the store can keep a state for readers that pause; the work pauses between lines there, and in a
 * store in memory. `check`
 * throws where it shall end: whoever takes the lines may have been away for long.
 */
export async function* exportInTurns(
  { store, tables, lenses }: Exported,
  turns: Turns,
  check: () => void,
): AsyncGenerator<ExportLine> {
  const snapshot = store.snapshot()
  if (snapshot === null) {
    const collect = function* (): Steps<readonly ExportLine[]> {
      const collected: ExportLine[] = []
      for (const line of exportLines(store, tables, lenses)) {
        if (line !== null) collected.push(line)
        yield
      }
      return collected
    }
    for (const line of await store.readInSteps(collect, turns)) {
      await turns.pauseIfDue()
      yield line
      check()
    }
    return
  }
  try {
    // Read twice: what is damaged refuses the export before its first line, so that no part of one is taken for the whole.
    const lines = () => exportLines(snapshot.reader, tables, lenses)
    for (const readable = lines(); readable.next().done !== true; ) await turns.pauseIfDue()
    for (const line of lines()) {
      await turns.pauseIfDue()
      if (line !== null) yield line
      check()
    }
  } finally {
    snapshot.close()
  }
}

/**
 * Entries by key, then access state, then tables in the order declared, each row by its primary key. Logs for followers
 * (`mechanical`) are left out. Null: a page was looked at that has no line.
 */
export function* exportLines(
  reader: StoreReader,
  tables: readonly TableDeclaration[],
  lenses: readonly Lens[],
): Generator<ExportLine | null> {
  yield { type: 'querent', version: 1 }
  for (const entry of everyEntry(reader)) yield { type: 'entry', entry: entryJson(entry, reader) }
  for (const access of everyAccess(reader)) {
    if (access === null) {
      yield null
      continue
    }
    const { viewer, entry, state } = access
    const { lastAccessed, count, strength } = state
    const of = { viewer, holder: entry.audience.holder, id: entry.id }
    yield { type: 'access', ...of, state: { lastAccessed, count, strength } }
  }
  const transfers = lenses.flatMap(({ transfer }) => transfer?.exportRow ?? [])
  for (const table of tables) {
    if (table.mechanical !== true) yield* tableLines(reader, table, transfers)
  }
}

/** The keys of all entries, ascending, a page at a time. */
export function* entryKeys(reader: StoreReader, page: number): Generator<readonly EntryKey[]> {
  for (let after: EntryKey | undefined = 0; after !== undefined; ) {
    const keys: readonly EntryKey[] = reader.scanEntries(after, page)
    if (keys.length > 0) yield keys
    after = keys.at(-1)
  }
}

function* everyEntry(reader: StoreReader): Generator<Entry> {
  for (const keys of entryKeys(reader, PAGE)) yield* reader.entries(keys)
}

function* everyAccess(reader: StoreReader): Generator<{ viewer: string; entry: Entry; state: AccessState } | null> {
  for (const viewer of reader.accessViewers()) {
    for (const keys of entryKeys(reader, PAGE)) {
      const states = reader.access({ id: viewer }, keys)
      for (const entry of reader.entries([...states.keys()])) {
        yield { viewer, entry, state: states.get(entry.key) as AccessState }
      }
      yield null
    }
  }
}

/** In one order of fields, whatever the store's, so that equal stores give equal bytes. */
function entryJson(entry: Entry, reader: StoreReader): JsonObject {
  const { id, collection, kind, title, content, tags, metadata, audience, origin } = entry
  const { createdAt, updatedAt, validFrom, validUntil, knownAt } = entry
  const chunks = reader.chunksOf(entry.key).map(({ start, end, startLine, endLine, headings, lead, sections }) => ({
    ...{ start, end, startLine, endLine, headings },
    ...(lead !== undefined && { lead }),
    ...(sections !== undefined && { sections: sections.map(({ at, headings }) => ({ at, headings })) }),
  }))
  return {
    ...{ id, collection, kind, title, content, tags, metadata, audience: audienceJson(audience), origin },
    ...{ createdAt, updatedAt, validFrom, validUntil, knownAt, chunks },
  }
}

function audienceJson(audience: Audience): JsonObject {
  const { kind, holder } = audience
  if (audience.kind !== 'shared') return { kind, holder }
  const { federations, masked } = audience
  return { kind, holder, federations, ...(masked === true && { masked }) }
}

function* tableLines(
  reader: StoreReader,
  table: TableDeclaration,
  transfers: readonly NonNullable<LensTransfer['exportRow']>[],
): Generator<ExportLine> {
  for (let after: Row | undefined; ; ) {
    const rows = reader.table(table).scan({}, { after, limit: PAGE })
    for (const row of rows) {
      const exported = transfers.reduce((cells, transfer) => transfer(reader, table.name, cells), row)
      const { entry: key, ...rest } = exported
      const owner = table.ofEntry === true ? reader.entry(Number(key)) : undefined
      // Rows go with their entry; one without has lost it.
      if (table.ofEntry === true && owner === undefined) {
        const message = `row of ${table.name}: its entry (number ${Number(key)}) is not found`
        throw new QuerentError('store_corrupt', message, { table: table.name, key: Number(key) })
      }
      const cells = cellsToJson(owner ? rest : exported)
      yield owner
        ? { type: 'row', table: table.name, entry: { holder: owner.audience.holder, id: owner.id }, row: cells }
        : { type: 'row', table: table.name, row: cells }
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = Object.fromEntries(table.key.map(column => [column, last[column] as Cell]))
  }
}

function cellsToJson(row: Row): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]): [string, Json] => [
      name,
      value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
    ]),
  )
}
