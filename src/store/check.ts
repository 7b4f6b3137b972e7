/**
 * Checks that every kind of store makes before it writes or searches, so that all stores refuse equal input. Only what would be stored
 * wrongly or silently misunderstood is checked here; limits of requests are checked by the interfaces.
 *
 * Text must be storable (`base/storable.ts`): well-formed Unicode without NUL. Code that reads text from outside repairs it first with
 * `storableText`.
 */
import { canonicalJson, type Json, type JsonObject } from '../base/canonical.ts'
import { isStorable } from '../base/storable.ts'
import type { AccessState, ChunkDraft, EntryDraft, EntryKey } from '../model/entry.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { Filter, Scalar } from '../model/filter.ts'
import { MAX_DEPTH, MAX_ID_LENGTH } from '../model/limits.ts'
import { type Audience, audience } from '../model/partition.ts'
import type { Cell, ColumnDeclaration, Row, TableDeclaration } from '../model/table.ts'
import type { Viewer } from '../model/viewer.ts'

/** Largest number of comparisons and compared values in one filter, together. */
const MAX_FILTER_PARTS = 10_000

/** The draft of an entry in the form that every store keeps: each tag once, in the given order; federations sorted; metadata without -0. */
export interface SoundDraft extends EntryDraft {
  /** Metadata as canonical JSON, so that equal metadata give equal text. */
  readonly metadataJson: string
}

export function soundDraft(draft: EntryDraft, chunks: readonly ChunkDraft[]): SoundDraft {
  if (draft.id.length < 1 || draft.id.length > MAX_ID_LENGTH) {
    throw invalidArgument('id', draft.id, `1 to ${MAX_ID_LENGTH} characters`)
  }
  for (const field of ['id', 'collection', 'kind', 'title', 'content', 'origin'] as const) {
    checkText(field, draft[field] ?? '')
  }
  for (const tag of draft.tags) checkText('tags', tag)
  for (const field of ['createdAt', 'updatedAt', 'knownAt'] as const) checkInstant(field, draft[field])
  if (draft.validFrom !== null) checkInstant('validFrom', draft.validFrom)
  if (draft.validUntil !== null) checkInstant('validUntil', draft.validUntil)
  checkJson('metadata', draft.metadata, 0)
  for (const chunk of chunks) checkChunk(chunk, draft.content.length)

  const metadataJson = canonicalJson(draft.metadata)
  return {
    ...draft,
    tags: [...new Set(draft.tags)],
    audience: soundAudience(draft.audience),
    metadata: JSON.parse(metadataJson) as JsonObject,
    metadataJson,
  }
}

/** Checks the texts of an audience, and sorts its federations. */
export function soundAudience(given: Audience): Audience {
  const federations = given.kind === 'shared' ? given.federations : []
  for (const name of [given.holder, ...federations]) checkText('audience', name)
  return audience(given.kind, given.holder, federations, given.kind === 'shared' && given.masked === true)
}

/**
 * The audience that identifies the partition of an entry: all public entries share one partition, whose holder is the owner, so their own
 * holder is not part of it.
 */
export function audienceOfPartition(sound: Audience): Audience {
  return sound.kind === 'public' ? audience('public') : sound
}

/**
 * Refuses a vector whose length differs from that of the model's other vectors (`dimensions`; undefined: this is the model's first vector).
 */
export function checkVector(model: string, vector: Float32Array, dimensions: number | undefined): void {
  const right = dimensions === undefined ? vector.length > 0 : vector.length === dimensions
  if (!right) throw invalidArgument(`vector of ${model}`, vector.length, `${dimensions ?? 'some'} dimensions`)
}

export function checkAccess(viewer: Viewer, state: AccessState): void {
  checkText('viewer', viewer.id)
  checkInstant('lastAccessed', state.lastAccessed)
  if (!Number.isSafeInteger(state.count) || state.count < 0) throw invalidArgument('count', state.count, '0 or more')
  if (!Number.isFinite(state.strength) || state.strength < 0) {
    throw invalidArgument('strength', state.strength, '0 or more')
  }
}

/** Refuses a filter that is nested too deeply, has too many parts, or compares with text that cannot be stored. */
export function checkFilter(filter: Filter): void {
  let left = MAX_FILTER_PARTS
  const visit = (node: Filter, depth: number): void => {
    if (depth > MAX_DEPTH) throw tooLarge('filter depth', depth, MAX_DEPTH)
    const values = scalarsOf(node)
    left -= 1 + values.length
    if (left < 0) throw tooLarge('filter', MAX_FILTER_PARTS - left, MAX_FILTER_PARTS)
    for (const value of values) if (typeof value === 'string') checkText('filter', value)
    if ('field' in node) checkText('filter', node.field)
    else for (const part of node.op === 'not' ? [node.of] : node.of) visit(part, depth + 1)
  }
  visit(filter, 1)
}

export function checkText(field: string, text: string): void {
  if (!isStorable(text)) throw invalidArgument(field, text.slice(0, 80), 'well-formed Unicode without NUL')
}

export function checkInstant(field: string, value: number): void {
  if (!Number.isSafeInteger(value)) throw invalidArgument(field, value, 'an instant: whole milliseconds since 1970')
}

function scalarsOf(node: Filter): readonly Scalar[] {
  switch (node.op) {
    case 'in':
      return node.values
    case 'contains':
      return [node.text]
    case 'and':
    case 'or':
    case 'not':
    case 'exists':
      return []
    default:
      return [node.value]
  }
}

function checkJson(path: string, value: Json | undefined, depth: number): void {
  if (depth > MAX_DEPTH) throw tooLarge('metadata depth', depth, MAX_DEPTH)
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidArgument(path, value, 'a finite number')
  if (!['string', 'number', 'boolean', 'object'].includes(typeof value)) throw invalidArgument(path, value, 'JSON')
  if (typeof value === 'string') checkText(path, value)
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    checkText(path, key)
    checkJson(`${path}.${key}`, item as Json, depth + 1)
  }
}

function checkChunk(chunk: ChunkDraft, length: number): void {
  const { start, end } = chunk
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || end > length) {
    throw invalidArgument('chunk', `${start} to ${end}`, `a span within the content's ${length} units`)
  }
  for (const line of [chunk.startLine, chunk.endLine]) {
    if (!Number.isSafeInteger(line)) throw invalidArgument('chunk line', line, 'a whole number')
  }
  for (const heading of chunk.headings) checkText('headings', heading)
  if (chunk.lead !== undefined) checkText('lead', chunk.lead)
  const { shownFrom = 0 } = chunk
  if (!Number.isSafeInteger(shownFrom) || shownFrom < 0 || shownFrom > end - start)
    throw invalidArgument('shownFrom', shownFrom, 'a place within the chunk')
  for (const { at, headings } of chunk.sections ?? []) {
    if (!Number.isSafeInteger(at) || at < 0) throw invalidArgument('section', at, 'a place within the chunk')
    for (const heading of headings) checkText('sections', heading)
  }
}

function tooLarge(field: string, value: number, limit: number): QuerentError {
  return new QuerentError('too_large', `${field}: at most ${limit}, got ${value}`, { field, value, limit })
}

// Checks by which every store enforces the declarations of lens tables on rows and conditions.

const NAME = /^[a-z][a-z0-9_]{0,62}$/

/**
 * Declarations that were checked already. Declarations are constants and are used with every access to a table, so each is checked once.
 */
const soundOnes = new WeakSet<TableDeclaration>()
const shapes = new WeakMap<TableDeclaration, string>()

/** Refuses a table declaration from which no store could make a table, such as one with an invalid name. */
export function checkDeclaration(table: TableDeclaration): void {
  if (soundOnes.has(table)) return
  const columns = new Set<string>()
  for (const name of [table.name, ...table.columns.map(column => column.name)]) {
    if (!NAME.test(name)) throw invalidArgument(`table ${table.name}`, name, 'a snake_case name')
  }
  for (const { name } of table.columns) {
    if (columns.has(name)) throw invalidArgument(`table ${table.name}`, name, 'each column once')
    columns.add(name)
  }
  if (table.key.length === 0) throw invalidArgument(`table ${table.name}`, [], 'a primary key')
  for (const name of [...table.key, ...(table.indexes ?? []).flat()]) columnOf(table, name)
  for (const name of table.key) {
    if (columnOf(table, name).nullable) throw invalidArgument(`table ${table.name}`, name, 'no null in the key')
  }
  if (table.ofEntry && columnOf(table, 'entry').type !== 'integer') {
    throw invalidArgument(`table ${table.name}`, 'entry', 'an integer column')
  }
  if (table.aspect !== undefined && (!table.ofEntry || table.key.join() !== 'entry')) {
    throw invalidArgument(`table ${table.name}`, table.aspect, 'an aspect to belong to entries and be keyed by entry')
  }
  soundOnes.add(table)
}

/**
 * The columns that a stored table lacks in comparison with the table's current declaration. A declaration may add nullable columns at its
 * end, and may change its indexes; any other difference means that it declares another table, and throws `conflict`.
 */
export function missingColumns(stored: TableDeclaration, declared: TableDeclaration): readonly ColumnDeclaration[] {
  if (stored === declared || tableShape(stored) === tableShape(declared)) return []
  const missing = declared.columns.slice(stored.columns.length)
  const rest = { ...declared, columns: declared.columns.slice(0, stored.columns.length) }
  const isGrown = shapeOf(rest) === tableShape(stored) && missing.every(({ nullable }) => nullable === true)
  if (!isGrown) throw tableMismatch(declared.name)
  return missing
}

function tableShape(table: TableDeclaration): string {
  const known = shapes.get(table)
  if (known !== undefined) return known
  const shape = shapeOf(table)
  shapes.set(table, shape)
  return shape
}

function tableMismatch(name: string): QuerentError {
  const message = `table ${name}: the store has one of this name with other columns, which another version made; \`querent export --skip-damaged\` saves everything else`
  return new QuerentError('conflict', message, { field: name })
}

/** The checked cells of a row, in the order of the declared columns; absent cells become null, and -0 becomes 0. */
export function soundCells(table: TableDeclaration, row: Row): Cell[] {
  for (const name of Object.keys(row)) columnOf(table, name)
  return table.columns.map(column => soundCell(table, column, row[column.name]))
}

/** Checks a condition that gives values for some columns of a table. */
export function soundPart(table: TableDeclaration, part: Row): Row {
  const cells = Object.entries(part).map(([name, cell]) => {
    const column = columnOf(table, name)
    return [name, cell === null ? null : soundCell(table, column, cell)] as const
  })
  return Object.fromEntries(cells)
}

/** Checks a condition that identifies a row by all columns of its primary key. */
export function soundKey(table: TableDeclaration, key: Row): Row {
  const names = Object.keys(key)
  if (names.length !== table.key.length || !table.key.every(name => name in key)) {
    throw invalidArgument(`table ${table.name}`, names, `the key columns ${table.key.join(', ')}`)
  }
  return soundPart(table, key)
}

/** The column names requested, checked against the table; all of its columns when none are requested. */
export function soundColumns(table: TableDeclaration, names: readonly string[] | undefined): readonly string[] {
  for (const name of names ?? []) columnOf(table, name)
  return names ?? table.columns.map(({ name }) => name)
}

/**
 * Checks that rows of the table can be selected by entry, which requires a column `entry`. Returns the given entry keys unchanged;
 * undefined means that rows are not selected by entry.
 */
export function soundEntries(
  table: TableDeclaration,
  entries: readonly EntryKey[] | undefined,
): readonly EntryKey[] | undefined {
  if (entries !== undefined) columnOf(table, 'entry')
  return entries
}

function shapeOf(table: TableDeclaration): string {
  const columns = table.columns.map(({ name, type, nullable }) => [name, type, nullable === true])
  return JSON.stringify([columns, table.key, table.ofEntry === true, table.aspect ?? null])
}

function columnOf(table: TableDeclaration, name: string): ColumnDeclaration {
  const column = columnsOf(table).get(name)
  if (column === undefined) throw invalidArgument(`table ${table.name}`, name, 'a declared column')
  return column
}

const columnMaps = new WeakMap<TableDeclaration, ReadonlyMap<string, ColumnDeclaration>>()

function columnsOf(table: TableDeclaration): ReadonlyMap<string, ColumnDeclaration> {
  const known = columnMaps.get(table)
  if (known !== undefined) return known
  const made = new Map(table.columns.map(column => [column.name, column]))
  columnMaps.set(table, made)
  return made
}

function soundCell(table: TableDeclaration, column: ColumnDeclaration, cell: Cell | undefined): Cell {
  const field = () => `${table.name}.${column.name}`
  if (cell === null || cell === undefined) {
    if (!column.nullable) throw invalidArgument(field(), cell, 'a value')
    return null
  }
  switch (column.type) {
    case 'text':
      if (typeof cell !== 'string') throw invalidArgument(field(), cell, 'text')
      checkText(field(), cell)
      return cell
    case 'integer':
      if (!Number.isSafeInteger(cell)) throw invalidArgument(field(), cell, 'a whole number')
      return (cell as number) + 0
    case 'real':
      if (!Number.isFinite(cell)) throw invalidArgument(field(), cell, 'a finite number')
      return (cell as number) + 0
    case 'blob':
      if (!(cell instanceof Uint8Array)) throw invalidArgument(field(), cell, 'bytes')
      return cell
  }
}

/**
 * Counts a version for each declared table, which changes when the table is written; data cached from one table then remains valid when
 * others are written.
 */
export class TableVersions {
  #counter = 0
  /** Version of each table that this store has not written since the last write of another connection: one number for all these tables. */
  #others = 0
  readonly #own = new Map<string, number>()
  readonly #open = new Set<string>()

  /** Forgets which tables the last transaction has written; must be called when a transaction begins. */
  begin(): void {
    this.#open.clear()
  }

  wrote(table: string): void {
    this.#open.add(table)
  }

  /** Advances the versions of the tables that the transaction has written; must be called after it was committed. */
  commit(): void {
    for (const table of this.#open) this.#own.set(table, ++this.#counter)
  }

  /** Must be called when another connection has written to the file: any table may have changed. */
  moved(): void {
    this.#others = ++this.#counter
    this.#own.clear()
  }

  of(table: string): number {
    return this.#own.get(table) ?? this.#others
  }
}
