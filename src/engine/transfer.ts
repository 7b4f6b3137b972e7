/**
 * Export and import as lines of JSON, lossless: entries with audience and times, access state, and the rows of every
 * table. Vectors and indexes are derived and not part of it. Import is all or nothing.
 */
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import type { ChunkDraft, Entry, EntryDraft, EntryKey } from '../model/entry.ts'
import { QuerentError } from '../model/errors.ts'
import { jsonObjectInput } from '../model/json-input.ts'
import { parseInput } from '../model/parse-input.ts'
import { audience } from '../model/partition.ts'
import type { Cell, Row, TableDeclaration } from '../model/table.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import type { ExportLine } from './engine.ts'

const PAGE = 500
const FORMAT_VERSION = 1

const entryLine = z.strictObject({
  type: z.literal('entry'),
  entry: z.strictObject({
    id: z.string().min(1),
    collection: z.string(),
    kind: z.string(),
    title: z.string(),
    content: z.string(),
    tags: z.array(z.string()),
    metadata: jsonObjectInput,
    audience: z.strictObject({
      kind: z.enum(['public', 'private', 'shared']),
      holder: z.string(),
      federations: z.array(z.string()).optional(),
    }),
    origin: z.string().nullable(),
    createdAt: z.int(),
    updatedAt: z.int(),
    validFrom: z.int().nullable(),
    validUntil: z.int().nullable(),
    knownAt: z.int(),
    chunks: z.array(
      z.strictObject({
        start: z.int().min(0),
        end: z.int().min(0),
        startLine: z.int().min(1),
        endLine: z.int().min(1),
        headings: z.array(z.string()),
      }),
    ),
  }),
})
const accessLine = z.strictObject({
  type: z.literal('access'),
  viewer: z.string().min(1),
  holder: z.string(),
  id: z.string(),
  state: z.strictObject({ lastAccessed: z.int(), count: z.int().min(0), strength: z.number().min(0) }),
})
const cell = z.union([z.string(), z.number(), z.null(), z.strictObject({ base64: z.base64() })])
const rowLine = z.strictObject({
  type: z.literal('row'),
  table: z.string(),
  /** For rows of an entry: whose row it is, since keys differ between stores. */
  entry: z.strictObject({ holder: z.string(), id: z.string() }).optional(),
  row: z.record(z.string(), cell),
})
const headLine = z.strictObject({ type: z.literal('querent'), version: z.literal(FORMAT_VERSION) })
const anyLine = z.discriminatedUnion('type', [headLine, entryLine, accessLine, rowLine])

/** Entries by key, then access state, then tables in the order declared, each row by its primary key. */
export function* exportLines(reader: StoreReader, tables: readonly TableDeclaration[]): Generator<ExportLine> {
  yield { type: 'querent', version: FORMAT_VERSION }
  for (const entry of everyEntry(reader)) yield { type: 'entry', entry: entryJson(entry, reader) }
  for (const { viewer, entry, state } of everyAccess(reader)) {
    yield { type: 'access', viewer, holder: entry.audience.holder, id: entry.id, state }
  }
  for (const table of tables) yield* tableLines(reader, table)
}

function* everyEntry(reader: StoreReader): Generator<Entry> {
  for (let after = 0; ; ) {
    const keys = reader.scanEntries(after, PAGE)
    if (keys.length === 0) return
    yield* reader.entries(keys)
    after = keys.at(-1) as EntryKey
  }
}

function* everyAccess(
  reader: StoreReader,
): Generator<{ viewer: string; entry: Entry; state: { lastAccessed: Instant; count: number; strength: number } }> {
  for (const viewer of reader.accessViewers()) {
    for (let after = 0; ; ) {
      const keys = reader.scanEntries(after, PAGE)
      if (keys.length === 0) break
      const states = reader.access({ id: viewer }, keys)
      for (const entry of reader.entries([...states.keys()])) {
        yield {
          viewer,
          entry,
          state: { ...(states.get(entry.key) as { lastAccessed: Instant; count: number; strength: number }) },
        }
      }
      after = keys.at(-1) as EntryKey
    }
  }
}

function entryJson(entry: Entry, reader: StoreReader): JsonObject {
  const { key, partition: _partition, contentHash: _hash, ...draft } = entry
  const chunks = reader.chunksOf(key).map(({ key: _key, entry: _entry, ordinal: _ordinal, ...chunk }) => ({ ...chunk }))
  return { ...draft, audience: { ...draft.audience }, chunks } as unknown as JsonObject
}

function* tableLines(reader: StoreReader, table: TableDeclaration): Generator<ExportLine> {
  for (let after: Row | undefined; ; ) {
    const rows = reader.table(table).scan({}, { after, limit: PAGE })
    for (const row of rows) {
      const { entry: key, ...rest } = row
      const owner = table.ofEntry === true ? reader.entry(Number(key)) : undefined
      const cells = cellsToJson(owner ? rest : row)
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

/** Reads all lines, then writes them in one transaction. Entries that are there already are replaced. */
export async function importLines(
  store: Store,
  lines: AsyncIterable<unknown>,
  tables: readonly TableDeclaration[],
  now: Instant,
): Promise<{ entries: number; rows: number }> {
  const parsed: z.output<typeof anyLine>[] = []
  for await (const line of lines) parsed.push(parseInput(anyLine, line, `line ${parsed.length + 1}`))
  const counts = { entries: 0, rows: 0 }
  store.write(now, writer => {
    const keys = new Map<string, EntryKey>()
    for (const [i, line] of parsed.entries()) {
      if (line.type === 'entry') {
        keys.set(`${line.entry.audience.holder}\0${line.entry.id}`, putLine(writer, line))
        counts.entries++
      } else if (line.type === 'access') {
        writer.setAccess({ id: line.viewer }, mustKey(keys, line, i), line.state)
      } else if (line.type === 'row') {
        putRow(writer, tables, line, i, keys)
        counts.rows++
      }
    }
  })
  return counts
}

function putLine(writer: StoreWriter, line: z.output<typeof entryLine>): EntryKey {
  const { chunks, audience: of, ...rest } = line.entry
  const draft: EntryDraft = {
    ...rest,
    audience: audience(of.kind, of.holder, of.federations ?? []),
  }
  return writer.put(draft, chunks as readonly ChunkDraft[]).key
}

function putRow(
  writer: StoreWriter,
  tables: readonly TableDeclaration[],
  line: z.output<typeof rowLine>,
  index: number,
  keys: ReadonlyMap<string, EntryKey>,
): void {
  const table = tables.find(candidate => candidate.name === line.table)
  if (table === undefined) {
    throw new QuerentError(
      'invalid_argument',
      `line ${index + 1}: no lens here has a table ${JSON.stringify(line.table)}`,
      {
        field: 'table',
        value: line.table,
      },
    )
  }
  const cells = Object.entries(line.row).map(([name, value]): [string, Cell] => [
    name,
    value !== null && typeof value === 'object' ? Buffer.from(value.base64, 'base64') : value,
  ])
  const row = Object.fromEntries(cells)
  writer.table(table).put(line.entry ? { ...row, entry: mustKey(keys, line.entry, index) } : row)
}

function mustKey(keys: ReadonlyMap<string, EntryKey>, of: { holder: string; id: string }, index: number): EntryKey {
  const key = keys.get(`${of.holder}\0${of.id}`)
  if (key !== undefined) return key
  throw new QuerentError(
    'invalid_argument',
    `line ${index + 1}: its entry ${JSON.stringify(of.id)} does not come before it`,
    {
      field: 'id',
      value: of.id,
    },
  )
}
