/**
 * The entry point of all calls of the lens `context`. `call(path, params, emit?)` finds the path's handler, checks the parameters, and
 * always resolves to an envelope, the object with result or errors (CX-001). All faults of parameters are reported at once, in a map shaped
 * like the parameters.
 */
import { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import { isRecord } from '../../base/record.ts'
import type { Steps } from '../../base/turns.ts'
import type { LinkIndex } from '../../index/contract.ts'
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Effect } from '../../model/operation.ts'
import { check, type Fault } from '../../model/parse-input.ts'
import { type AccessScope, isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { Workspace } from '../../model/workspace.ts'
import { tablePages } from '../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { embedEntries } from '../embed-entries.ts'
import type { LensHost } from '../lens.ts'
import { assertInitialised, type Part, revisionOf } from './counters.ts'
import {
  type Envelope,
  type ErrorMap,
  errorAt,
  joined,
  type Outcome,
  type PlacedConcept,
  Refusal,
  refusal,
} from './envelope.ts'
import { unlinkedLanguage } from './extract/concept.ts'
import { shownPath } from './names.ts'
import { type Concept, type ContextState, stateOf, type VisibleConcepts } from './state.ts'
import { LINKS, READ_ERRORS } from './tables.ts'

export interface ProgressEvent {
  readonly phase: string
  readonly current: number
  readonly total: number | null
  readonly message: string
}

/** Callback that receives events about the progress of a long call. */
export type Emit = (event: ProgressEvent) => void

export interface Call {
  readonly host: LensHost
  readonly state: ContextState
  readonly viewer: Viewer
  readonly signal: AbortSignal
  readonly emit: Emit
  /** Longest time in ms that the call waits for background work to finish; null: no limit. */
  readonly maxWaitMs: number | null
}

export interface Handler {
  readonly path: string
  /** What the call does, in one line, in the imperative and without a full stop. */
  readonly summary: string
  readonly effect: Effect['kind']
  readonly params: z.ZodType
  /** Schema of the field `result` in the envelope that the call returns. */
  readonly result: z.ZodType
  /** Parts of the store (`body`: files, `mind`: concepts) that must have been created before this call. */
  readonly needs?: readonly Part[] | undefined
  /**
   * Names of parameters that are checked first: their faults are reported in place of the error that a part of the store is missing
   * (CX-013).
   */
  readonly first?: readonly string[] | undefined
  run(call: Call, params: unknown): Outcome | Promise<Outcome>
}

/** A handler with its path, parameters and result as TypeScript types. */
export interface TypedHandler<Path extends string, Params extends z.ZodType, Result extends z.ZodType> extends Handler {
  readonly path: Path
  readonly params: Params
  readonly result: Result
}

/**
 * Defines a handler; its TypeScript types follow from its schemas. The schemas are made when a call or a listing first needs them, so that
 * a process that makes one call makes only the schemas of this call.
 */
export function handler<const Path extends string, Params extends z.ZodType, Result extends z.ZodType>(
  given: Omit<Handler, 'path' | 'params' | 'result' | 'run'> & {
    readonly path: Path
    params(): Params
    result(): Result
    run(
      call: Call,
      params: z.output<Params>,
    ): Outcome<ReadonlyDeep<z.output<Result>>> | Promise<Outcome<ReadonlyDeep<z.output<Result>>>>
  },
): TypedHandler<Path, Params, Result> {
  const lazy = { ...given, params: z.lazy(given.params), result: z.lazy(given.result) }
  return lazy as unknown as TypedHandler<Path, Params, Result>
}

interface CallOptions {
  readonly viewer?: Viewer | undefined
  readonly signal?: AbortSignal | undefined
  readonly emit?: Emit | undefined
  /**
   * When true, the call waits for background work no longer than the setting `max_wait`. Set for requesters to whom progress of the work
   * cannot be shown.
   */
  readonly isWaitBounded?: boolean | undefined
}

/**
 * Runs the handler of a path and returns the envelope. When `params` is a function it is called first, and an error that it throws is
 * reported like any other.
 */
export async function callHandler(
  handlers: ReadonlyMap<string, Handler>,
  host: LensHost,
  path: unknown,
  params: unknown,
  options: CallOptions = {},
): Promise<Envelope> {
  const started = performance.now()
  const called = asText(path)
  const end = (outcome: Outcome | ErrorMap, isError: boolean): Envelope => {
    const { result, errors, meta } = isError ? { result: null, errors: outcome as ErrorMap } : (outcome as Outcome)
    return {
      status: isError ? 'error' : 'success',
      result,
      errors: errors ?? null,
      meta: {
        ...(meta as JsonObject | undefined),
        path: called,
        timestamp: new Date(host.clock.now()).toISOString(),
        duration_ms: Math.round((performance.now() - started) * 1000) / 1000,
      },
    }
  }
  try {
    const handler = typeof path === 'string' ? handlers.get(path) : undefined
    if (handler === undefined) return end(errorAt(['path'], 'not_found', `no handler for ${called}`), true)
    const given: unknown = (typeof params === 'function' ? await params() : params) ?? {}
    if (!isRecord(given)) return end(errorAt(['params'], 'invalid', 'params must be an object'), true)
    const { viewer = LOCAL_OWNER, signal = new AbortController().signal, emit = () => undefined } = options
    const state = stateOf(host)
    const maxWaitMs = options.isWaitBounded === true ? state.settings.max_wait * 1000 : null
    const call: Call = { host, state, viewer, signal, emit, maxWaitMs }
    if (handler.effect === 'read') await host.ready?.([LINKS.name])
    return end(await handler.run(call, readParams(handler, host.store, given)), false)
  } catch (error) {
    if (error instanceof Refusal) return end(error.errors, true)
    if (isDamage(error)) {
      // The message names the damaged row. Only the owner gets it, because other viewers may not be allowed to know of that row.
      const message = isOwner(options.viewer ?? LOCAL_OWNER) ? error.message : 'the store is damaged'
      return end(errorAt(['handler'], 'exception', message, { reason: error.code }), true)
    }
    return end(errorAt(['handler'], 'exception', error instanceof Error ? error.message : asText(error)), true)
  }
}

function isDamage(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.code === 'store_corrupt'
}

/** Throws `Refusal` with code `cancelled` when the call was cancelled; what the call has already written is kept. */
export function assertNotCancelled({ signal }: Pick<Call, 'signal'>): void {
  if (signal.aborted) throw refusal('handler', 'cancelled', 'the call was cancelled')
}

/** A thrown value as a text for an error message; a value that cannot be converted to text is described by its type. */
function asText(value: unknown): string {
  try {
    return String(value)
  } catch {
    return typeof value
  }
}

/**
 * Checks the parameters of a call by the handler's schema. Throws `Refusal`: first for faults of the parameters in `first`, then for
 * missing parts of the store, then for all other faults.
 */
function readParams({ params, needs = [], first = [] }: Handler, store: StoreReader, given: unknown): unknown {
  const { data, faults } = check(params, given)
  const early = faults.filter(({ path: [name] }) => first.includes(String(name)))
  if (early.length > 0) throw refused(early)
  assertInitialised(store, ...needs)
  if (faults.length > 0) throw refused(faults)
  return data
}

/**
 * Turns faults found by a schema into errors of the call (CX-004): `required` for a value that is missing, null or blank, else `invalid`.
 */
function refused(faults: readonly Fault[]): Refusal {
  const errors = new Map<string, ErrorMap>()
  for (const fault of faults) {
    const { path, issue } = fault
    const isItem = typeof path.at(-1) === 'number'
    const isObject = issue.code === 'invalid_type' && issue.expected === 'object'
    // Where an item of a list is faulty and should be a plain value, the error is reported for the whole list. Where the item should be an
    // object, it is reported for the item.
    const place = (isItem && !isObject ? path.slice(0, -1) : path).map(String)
    const ofItem = isObject ? 'an item must be an object' : `${fieldOf(fault)} must be a list of texts`
    const [code, message] = isItem ? ['invalid', ofItem] : detailOf(fault)
    if (!errors.has(place.join('\n'))) errors.set(place.join('\n'), errorAt(place, code, message))
  }
  return new Refusal(joined([...errors.values()]))
}

function fieldOf({ path }: Fault): string {
  return String(path.findLast(key => typeof key === 'string') ?? 'params')
}

function detailOf(fault: Fault): [code: string, message: string] {
  const { issue, value } = fault
  const field = fieldOf(fault)
  // In these schemas only texts that must not be blank have a pattern, so a failed pattern means that the text is missing.
  const isMissing = value === undefined || value === null || issue.code === 'invalid_format'
  if (isMissing && issue.code !== 'custom') return ['required', `${field} is required`]
  if (issue.code === 'custom') {
    return [issue.params?.['code'] === 'required' ? 'required' : 'invalid', `${field} ${issue.message}`]
  }
  return ['invalid', `${field} must be ${wanted(issue)}`]
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return `one of: ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `${issue.minimum} or more`
    default:
      return issue.message
  }
}

/** Runs one write transaction as soon as no other process is writing to the store. */
export function transact<T>({ host }: Call, body: (writer: StoreWriter) => T): Promise<T> {
  return host.store.writeWhenFree(host.clock.now(), body)
}

/**
 * The workspace (folder of the code base). Throws `Refusal` when the store belongs to no folder, or the viewer is not the local owner, who
 * alone may read the disk.
 */
export function requireWorkspace({ host, viewer }: Call): Workspace {
  if (host.workspace === undefined) throw refusal('body', 'no_workspace', 'this store belongs to no folder')
  if (!isOwner(viewer)) throw refusal('body', 'denied', 'files are read for the local owner only')
  return host.workspace
}

/** Largest number of entries that are embedded during a call; when there are more, all are left to the background job. */
const MOST = 64

export async function embedNow({ host, signal }: Call, entries: readonly EntryKey[]): Promise<void> {
  if (entries.length > MOST) return
  try {
    await embedEntries(host, entries, signal)
  } catch {
    // A failure to embed is ignored here: the concept is already written, and the background job will embed it later, or report a failure
    // that persists.
  }
}

export interface Look {
  readonly accessScope: AccessScope
  readonly concepts: VisibleConcepts
}

export function look({ host, state, viewer }: Call): Look {
  const accessScope = host.accessScope(viewer)
  return { accessScope, concepts: state.concepts.visible(accessScope.partitions) }
}

/** The concept with this id, if the viewer sees it. Else throws `Refusal` with code `not_found`, placed at the given parameter. */
export function requireVisible({ concepts }: Look, id: number, place: readonly string[] = ['id']): Concept {
  const concept = concepts.byId(id)
  if (concept === undefined) throw new Refusal(errorAt(place, 'not_found', 'concept not found'))
  return concept
}

/**
 * The concept with this id, if the viewer may change it: its holder, and the local owner for all concepts. Else throws `Refusal` with an
 * error at the given parameter.
 */
export function requireOwn(call: Call, seen: Look, id: number, place: readonly string[] = ['id']): Concept {
  const concept = requireVisible(seen, id, place)
  if (!isOwner(call.viewer) && call.host.store.entry(concept.entry)?.audience.holder !== call.viewer.id) {
    throw new Refusal(errorAt(place, 'denied', 'only the holder of a concept may change it'))
  }
  return concept
}

export function linksOf({ host }: Pick<Call, 'host'>): LinkIndex {
  return host.index(LINKS.name) as LinkIndex
}

export function brief({ id, name, type }: Concept): { id: number; name: string; type: string } {
  return { id, name, type }
}

// Turns: of all calls in all processes, one at a time reads files and writes what it found, while others wait. What a call looked up stays
// true in its transaction. A suspended process may lose its turn, and another call may delete concepts; the call then writes nothing more
// and starts again.

/**
 * Largest number of times that a call starts its work. A call starts again when it lost its turn (its exclusive right to read files and
 * write results); files already written are not read again, so each start has less to do.
 */
const MAX_STARTS = 20

export interface Turn {
  /** The call that has the turn (the exclusive right to read files and write results); its signal is also aborted when the turn is lost. */
  readonly call: Call
  /**
   * Runs one write transaction, which is committed only if the call still has its turn (its exclusive right to write). Else rejects with
   * `Overtaken`, and the work of the call starts again.
   */
  write<T>(body: (writer: StoreWriter) => T): Promise<T>
}

interface Done<T> {
  readonly value: T
  /** How long the call waited for other calls to end their turns, in whole ms. */
  readonly waitedMs: number
  /** How often the call lost its turn (its exclusive right to read files and write results) and started its work again. */
  readonly restarts: number
}

/**
 * Waits until it is this call's turn, then runs `body`. Rejects with `Refusal` (`overtaken` after too many lost turns, `cancelled`) and
 * with errors of `body`.
 */
export async function inTurn<T>(call: Call, body: (turn: Turn) => Promise<T>): Promise<Done<T>> {
  let waitedMs = 0
  const waited = (ms: number) => {
    waitedMs += Math.ceil(ms)
  }
  for (let restarts = 0; restarts < MAX_STARTS; restarts++) {
    try {
      return { value: await once(call, body, waited), waitedMs, restarts }
    } catch (error) {
      if (call.signal.aborted || isCancelled(error)) throw refusal('handler', 'cancelled', 'the call was cancelled')
      if (!(error instanceof Overtaken)) throw error
    }
  }
  throw refusal(
    'handler',
    'overtaken',
    `other runs took over ${MAX_STARTS} times; nothing is half written, run it again`,
  )
}

/**
 * Throws `Overtaken` when the revision number of the indexer's data in the store is no longer the given one, since another run has changed
 * the data.
 */
export function requireRevision(reader: StoreReader, revision: number): void {
  if (revisionOf(reader) !== revision) throw new Overtaken()
}

/** Error that shows that a call lost its turn or its data changed; the work of the turn then starts again. */
export class Overtaken extends Error {}

async function once<T>(call: Call, body: (turn: Turn) => Promise<T>, waited: (ms: number) => void): Promise<T> {
  const { host, signal, emit } = call
  if (host.exclusive === undefined) throw new Error('invariant broken: an engine gives turns')
  let waitsSince: number | null = null
  const onWait = () => {
    waitsSince = performance.now()
    emit({ phase: 'wait', current: 0, total: null, message: 'another run is at work on this store' })
  }
  return host.exclusive('files', { signal, onWait }, async turn => {
    if (waitsSince !== null) waited(performance.now() - waitsSince)
    try {
      return await body({
        call: { ...call, signal: turn.signal },
        write: write =>
          host.store.writeWhenFree(host.clock.now(), writer => {
            turn.requireHeld(writer)
            return write(writer)
          }),
      })
    } catch (error) {
      const isLost = (turn.signal.aborted && !signal.aborted) || isCancelled(error)
      throw isLost ? new Overtaken() : error
    }
  })
}

function isCancelled(error: unknown): boolean {
  return error instanceof QuerentError && error.code === 'cancelled'
}

// Notes about limits in reading files: files with syntax errors (CX-077), and languages whose calls are not linked between files (CX-079).

/** Largest number of files that a note or a finding names; further ones are only counted. */
const MAX_NAMED = 5

/** URLs of the files held by the viewer that were read with syntax errors, sorted. */
export function ownFilesWithErrors({ host: { store }, viewer }: Call): readonly string[] {
  const rows = store.table(READ_ERRORS).scan()
  const urls = new Map(rows.map(row => [row['entry'] as EntryKey, row['url'] as string]))
  const own = store.identities([...urls.keys()]).filter(({ holder }) => holder === viewer.id)
  return own.map(({ key }) => urls.get(key) as string).sort()
}

/**
 * A warning with the names of those given files that were read with syntax errors and that the viewer sees; an empty list when there are
 * none.
 */
export function readErrorNotes(
  { host, state }: Call,
  { accessScope }: Look,
  of: Iterable<{ readonly url: string | null }>,
): readonly string[] {
  const table = host.store.table(READ_ERRORS)
  const files = state.files.visible(accessScope.partitions)
  const entries = [...new Set([...of].map(({ url }) => url))].flatMap(url =>
    url === null ? [] : (files.byUrl(url)?.entry ?? []),
  )
  const found = entries.length === 0 ? [] : table.scan({}, { entries }).map(row => row['url'] as string)
  if (found.length === 0) return []
  return [
    `${named(found.sort().map(url => shownPath(url, host.workspace?.url)))}: declarations in ${found.length === 1 ? 'it' : 'them'} may be missing`,
  ]
}

/** Notes for concepts in languages without links between files: calls of such a concept can be found only by searching texts. */
export function languageNotes(concepts: readonly Concept[]): readonly string[] {
  const languages = new Set(concepts.flatMap(({ url }) => (url === null ? [] : (unlinkedLanguage(url) ?? []))))
  return [...languages]
    .sort()
    .map(language => `calls in ${language} are not linked: calls of this name are listed as not resolved`)
}

/** A finding for the `doctor` command about files of any holder that were read with syntax errors; null when there are none. */
export function* readErrorProblem(reader: StoreReader): Steps<string | null> {
  const urls: string[] = []
  for (const rows of tablePages(reader, READ_ERRORS, ['url'])) {
    urls.push(...rows.map(({ url }) => url as string))
    yield
  }
  return urls.length === 0
    ? null
    : `${urls.length} of the indexed files: ${named(urls.sort())}: declarations in them may be missing`
}

function named(files: readonly string[]): string {
  const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ''
  return `${files.slice(0, MAX_NAMED).join(', ')}${more} ${files.length === 1 ? 'was' : 'were'} read with errors`
}

/** Puts notes into an answer as `meta.warnings`; returns an empty object when there are no notes. */
export function noted(...notes: readonly (readonly string[])[]): { readonly meta?: { readonly warnings: string[] } } {
  const warnings = notes.flat()
  return warnings.length === 0 ? {} : { meta: { warnings } }
}

/** A concept as calls return it, with its file and lines. */
export function placed({ id, name, type, url, startLine, endLine }: Concept): PlacedConcept {
  return { id, name, type, url, start_line: startLine, end_line: endLine }
}
