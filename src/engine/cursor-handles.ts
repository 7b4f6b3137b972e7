/**
 * Short handles for cursors (QE-015). A cursor holds everything that its next page needs, up to `MAX_CURSOR_LENGTH` characters: too much
 * for an agent to repeat, and for a URL. HTTP and MCP send a handle instead; the cursor itself is kept in the store, so that other
 * processes on the store can use the handle.
 */

import { hash } from 'node:crypto'
import { z } from 'zod'
import type { Json, JsonObject } from '../base/canonical.ts'
import type { Clock } from '../base/clock.ts'
import { isRecord } from '../base/record.ts'
import { pause } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import { CURSOR_LIFETIME_MS } from '../model/limits.ts'
import { CURSORS } from '../store/core-tables.ts'
import type { Store, StoreWriter } from '../store/store.ts'

/** Cursors up to this number of characters are sent unchanged; a longer cursor is replaced by a handle. */
const MAX_LENGTH = 64
/**
 * Pattern of a handle: `c_` and 96 bits of a hash of the cursor. Equal cursors have equal handles. Only this store can have sealed the
 * cursor, so a handle cannot be guessed.
 */
const HANDLE = /^c_[\w-]{16}$/
/** Milliseconds in an hour. Stored cursors are removed in groups, all those created in one hour together. */
const HOUR_MS = 3_600_000
/** Maximum number of stored cursors; if there are more, the cursors of the oldest hour are removed before their time. */
const MAX_ROWS = 200_000
/** Milliseconds after which new cursors are stored, all in one transaction: one transaction for each took 3 % of a query over HTTP. */
const WRITTEN_AFTER_MS = 25
/** Milliseconds that closing waits for other writers before cursors that are not stored yet are dropped. */
const WAIT_AT_END_MS = 1_000
/** Maximum number of cursors kept in memory while the store cannot be written; if there are more, the oldest are dropped. */
const MAX_UNWRITTEN = 1_000
/** Milliseconds and number of times that a process waits for a cursor that another process may be about to store. */
const OTHERS_MS = 50
const MAX_WAITS = 5

export class CursorHandles {
  readonly #store: Store
  readonly #clock: Clock
  readonly #unwritten = new Map<string, string>()
  #timer: NodeJS.Timeout | null = null
  #isWriting = false
  #hour = 0

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * The handle for a cursor, which is stored for it soon. Never fails and never waits for other writers: until the store can be written, the
   * cursor is kept in the memory of this process.
   */
  shorten(cursor: string): string {
    if (cursor.length <= MAX_LENGTH) return cursor
    const handle = `c_${hash('sha256', cursor, 'base64url').slice(0, 16)}`
    const [oldest] = this.#unwritten.keys()
    if (oldest !== undefined && this.#unwritten.size >= MAX_UNWRITTEN) this.#unwritten.delete(oldest)
    this.#unwritten.set(handle, cursor)
    this.#writeSoon()
    return handle
  }

  /**
   * The cursor that a handle was made for. A text that is not a handle is returned unchanged. Null: the cursor of this handle is no longer
   * kept, or another process has not stored it yet.
   */
  expand(given: string): string | null {
    if (!HANDLE.test(given)) return given
    const row = this.#store.table(CURSORS).get({ handle: given })
    return (row?.['cursor'] as string | undefined) ?? this.#unwritten.get(given) ?? null
  }

  /** Stores the cursors that wait in memory, before the store is closed. Never fails: those that cannot be stored now are dropped. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const waiting = [...this.#unwritten]
    this.#unwritten.clear()
    if (waiting.length === 0) return
    try {
      this.#store.write(this.#clock.now(), writer => this.#write(writer, waiting), WAIT_AT_END_MS)
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
    }
  }

  #writeSoon(): void {
    if (!this.#isWriting) this.#timer ??= setTimeout(() => this.#writeWaiting(), WRITTEN_AFTER_MS).unref()
  }

  /** Stores all waiting cursors. If that fails, they keep waiting until the next cursor is made. */
  async #writeWaiting(): Promise<void> {
    this.#timer = null
    this.#isWriting = true
    const waiting = [...this.#unwritten]
    const isWritten = await this.#store
      .writeWhenFree(this.#clock.now(), writer => this.#write(writer, waiting))
      .then(
        () => true,
        () => false,
      )
    this.#isWriting = false
    if (!isWritten) return
    for (const [handle] of waiting) this.#unwritten.delete(handle)
    if (this.#unwritten.size > 0) this.#writeSoon()
  }

  #write(writer: StoreWriter, cursors: readonly (readonly [handle: string, cursor: string])[]): void {
    const table = writer.table(CURSORS)
    const hour = Math.floor(this.#clock.now() / HOUR_MS)
    for (const [handle, cursor] of cursors) table.put({ handle, cursor, hour })
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
 * Replaces cursors by handles of at most 64 characters (QE-015), for interfaces whose answers an agent reads. The operation's schemas tell
 * where its cursors are: properties `cursor` and `next_cursor`, at any depth of declared objects and lists.
 */
const NAMES: ReadonlySet<string> = new Set(['cursor', 'next_cursor'])
/** Maximum depth of nested objects and lists in an operation's schema that is searched for cursors. */
const MAX_DEPTH = 5

/** Path of property names to a cursor in an operation's input or output. The step `*` means every item of a list. */
type Path = readonly string[]

interface Schemas {
  readonly input: z.ZodType
  readonly output: z.ZodType
}

/**
 * Waits until the cursors of all handles in the input are kept, at most a quarter of a second: another process may have sent a handle and
 * not stored its cursor yet.
 */
export async function untilKept(
  { input: schema }: Schemas,
  input: unknown,
  handles: CursorHandles,
  signal: AbortSignal,
): Promise<void> {
  const areKept = (): boolean => {
    const kept: boolean[] = []
    try {
      changed(input, pathsOf(schema, 'input'), cursor => {
        kept.push(handles.expand(cursor) !== null)
        return cursor
      })
    } catch {
      // The store cannot be read; the operation itself reports this.
      return true
    }
    return kept.every(Boolean)
  }
  for (let waits = 0; waits < MAX_WAITS && !areKept(); waits++) await pause(OTHERS_MS, signal)
}

/**
 * The input of an operation with each handle replaced by its cursor. Throws `cursor_expired` for a handle whose cursor is no longer kept.
 */
export function withWholeCursors({ input: schema }: Schemas, input: unknown, handles: CursorHandles): unknown {
  return changed(input, pathsOf(schema, 'input'), (cursor, path) => {
    const whole = handles.expand(cursor)
    if (whole !== null) return whole
    const message = `${path}: the results that it continues are no longer kept; start again from the first page`
    throw new QuerentError('cursor_expired', message, { field: path })
  })
}

/** The answer of an operation, or a piece of a streamed answer, with each long cursor replaced by a handle. */
export function withShortCursors<Answer>({ output: schema }: Schemas, answer: Answer, handles: CursorHandles): Answer {
  // The cast is safe: each cursor text is replaced by another text, so the type of the answer does not change.
  return changed(answer, pathsOf(schema, 'output'), cursor => handles.shorten(cursor)) as Answer
}

/** Replaces cursors by handles in each piece of a streamed answer; the pieces have the fields of the whole answer. */
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

/**
 * The JSON schema of a zod schema without `$ref`: repeated parts are copied in full, because zod writes references only for named parts and
 * none is named.
 */
function inlineSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  // The cast is safe: a JSON Schema consists of JSON values, but zod's type for it also has methods and undefined.
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
