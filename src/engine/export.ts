/**
 * Lossless export as JSON lines: entries with audience and times, access state, and the rows of every table. Vectors and indexes are
 * derived data and are left out.
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

/** Number of entries or table rows that are read from the store at once, which takes a few milliseconds. */
const PAGE = 100

/** What an export reads from. `lenses`: all lenses that have tables in the store, because a lens may convert its rows for the export. */
interface Exported {
  readonly store: Store
  readonly tables: readonly TableDeclaration[]
  readonly lenses: readonly Lens[]
}

/**
 * Yields the lines of a lossless export. They all show the state of the store at one commit, even if there are writes meanwhile. If the
 * store can keep that state for readers across pauses, at most a page of lines is in memory, otherwise all lines. After each pause `check`
 * is called, which throws if the export must end.
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
    // The export is computed twice, first without output: damaged data then makes it fail before the first line, so that nobody mistakes a
    // partial export for a whole one.
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
 * Yields export lines: entries by key, then access states, then tables in the order of declaration, with rows by primary key. Tables that
 * are only change logs (`mechanical`) are left out. A yielded null is no line, but lets the caller pause after a page of rows without
 * lines.
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

/** Reads the keys of all entries in ascending order, page by page. */
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

/** The fields of an entry are written in a fixed order, so that exports of equal stores have equal bytes. */
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
      // A row that belongs to an entry exists only as long as the entry; a row without its entry means that the store is damaged.
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
