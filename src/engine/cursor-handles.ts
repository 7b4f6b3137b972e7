/**
 * Short names of cursors (QE-015). A cursor holds all that its next page needs, up to `MAX_CURSOR_LENGTH` characters: too
 * much for an agent to repeat, and for an address. Over HTTP and MCP a handle takes its place; the cursor itself is kept in
 * the store, for other processes on it.
 */

import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Clock } from '../base/clock.ts'
import { isRecord } from '../base/record.ts'
import { QuerentError } from '../model/errors.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import { CURSORS } from '../store/core-tables.ts'
import type { Store, StoreWriter } from '../store/store.ts'

/** A cursor that is no longer than this is its own handle. */
const MAX_LENGTH = 64
/** 96 bits of a hash of what only this store can have sealed: equal cursors have equal handles, and none can be guessed. */
const HANDLE = /^c_[\w-]{16}$/
/** Rows are removed an hour at a time. */
const HOUR_MS = 3_600_000
/** Rows kept, before the oldest hour is removed early. */
const MAX_ROWS = 200_000
/** Cursors kept in memory alone, of a store that cannot be written now; the oldest are forgotten. */
const MAX_UNWRITTEN = 1_000

export class CursorHandles {
  readonly #store: Store
  readonly #clock: Clock
  readonly #unwritten = new Map<string, string>()
  #hour = 0

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Never fails, and waits for no writer: until the store can be written, this process alone keeps the cursor. */
  shorten(cursor: string): string {
    if (cursor.length <= MAX_LENGTH) return cursor
    const handle = `c_${hash('sha256', cursor, 'base64url').slice(0, 16)}`
    const [oldest] = this.#unwritten.keys()
    if (oldest !== undefined && this.#unwritten.size >= MAX_UNWRITTEN) this.#unwritten.delete(oldest)
    this.#unwritten.set(handle, cursor)
    this.#store
      .writeWhenFree(this.#clock.now(), writer => this.#write(writer, handle, cursor))
      .then(
        () => this.#unwritten.delete(handle),
        () => {},
      )
    return handle
  }

  /** What is no handle is returned as it is. Null: the cursor of this handle is not kept any more. */
  expand(given: string): string | null {
    if (!HANDLE.test(given)) return given
    const row = this.#store.table(CURSORS).get({ handle: given })
    return (row?.['cursor'] as string | undefined) ?? this.#unwritten.get(given) ?? null
  }

  #write(writer: StoreWriter, handle: string, cursor: string): void {
    const table = writer.table(CURSORS)
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    table.put({ handle, cursor, hour })
    if (hour === this.#hour) return
    this.#hour = hour
    const hours = new Set(table.scan({}, { columns: ['hour'] }).map(row => row['hour'] as number))
    const first = hour - CURSOR_LIFETIME_MS / HOUR_MS
    for (const old of [...hours].sort((a, b) => a - b)) {
      if (old < first || (old < hour && table.count() > MAX_ROWS)) table.delete({ hour: old })
    }
  }
}

/**
 * Cursors as handles of at most 64 characters (QE-015), for interfaces whose answers an agent reads. Where an operation has
 * cursors is in its schemas: properties `cursor` and `next_cursor`, at any depth of objects and lists that are declared.
 */
const NAMES: ReadonlySet<string> = new Set(['cursor', 'next_cursor'])
/** Objects and lists that lie in each other. */
const MAX_DEPTH = 5

/** `*` is every item of a list. */
type Path = readonly string[]

interface Schemas {
  readonly input: z.ZodType
  readonly output: z.ZodType
}

/** The input with the cursors that its handles name. Throws `cursor_expired` for a handle that is not kept any more. */
export function withWholeCursors({ input: schema }: Schemas, input: unknown, handles: CursorHandles): unknown {
  return changed(input, pathsOf(schema, 'input'), (cursor, path) => {
    const whole = handles.expand(cursor)
    if (whole !== null) return whole
    const message = `${path}: the results that it continues are no longer kept; start again from the first page`
    throw new QuerentError('cursor_expired', message, { field: path })
  })
}

/** The answer, or a piece of it, with handles for its cursors. */
export function withShortCursors<Answer>({ output: schema }: Schemas, answer: Answer, handles: CursorHandles): Answer {
  // The cast: one text takes the place of another.
  return changed(answer, pathsOf(schema, 'output'), cursor => handles.shorten(cursor)) as Answer
}

/** The pieces of a streamed answer, which have the fields of the whole one. */
export async function* eachWithShortCursors(
  schemas: Schemas,
  pieces: AsyncIterable<JsonObject>,
  handles: CursorHandles,
): AsyncGenerator<JsonObject> {
  for await (const piece of pieces) yield withShortCursors(schemas, piece, handles)
}

function changed(value: unknown, paths: readonly Path[], change: (text: string, path: string) => string): unknown {
  return paths.reduce((whole, path) => changedAt(whole, path, change, path.join('.')), value)
}

function changedAt(
  value: unknown,
  [step, ...below]: Path,
  change: (text: string, path: string) => string,
  path: string,
): unknown {
  if (step === undefined) return typeof value === 'string' ? change(value, path) : value
  if (step === '*') return Array.isArray(value) ? value.map(item => changedAt(item, below, change, path)) : value
  if (!isRecord(value) || value[step] === undefined || value[step] === null) return value
  const inner = changedAt(value[step], below, change, path)
  return inner === value[step] ? value : { ...value, [step]: inner }
}

const known = new WeakMap<z.ZodType, readonly Path[]>()

function pathsOf(schema: z.ZodType, io: 'input' | 'output'): readonly Path[] {
  const found = known.get(schema)
  if (found !== undefined) return found
  const paths = [...pathsIn(inlineSchema(schema, io), [], 0)]
  known.set(schema, paths)
  return paths
}

/** Without names, so that nothing is a reference. */
function inlineSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  // The cast: a JSON Schema is JSON; zod's type for it has methods and undefined.
  return z.toJSONSchema(schema, { io, unrepresentable: 'any', metadata: z.registry() }) as unknown as JsonObject
}

function* pathsIn(schema: JsonObject, path: Path, depth: number): Generator<Path> {
  if (depth > MAX_DEPTH) return
  const { properties, items, anyOf } = schema
  for (const branch of Array.isArray(anyOf) ? anyOf.filter(isObject) : []) yield* pathsIn(branch, path, depth)
  if (isObject(items)) yield* pathsIn(items, [...path, '*'], depth + 1)
  for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
    if (!isObject(property)) continue
    if (NAMES.has(name)) yield [...path, name]
    else yield* pathsIn(property, [...path, name], depth + 1)
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return isRecord(value)
}
