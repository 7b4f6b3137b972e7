/** The engine over one store. Each method checks its input and the viewer, and delegates to the module that does the work. */

import { must } from '../base/assert.ts'
import { systemTimers, Turns } from '../base/turns.ts'
import type { Limits } from '../identity/rates.ts'
import type { Calls } from '../lenses/calls.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
import {
  type AddRequest,
  addInput,
  explainInput,
  type GetInput,
  getInput,
  idsInput,
  type ListInput,
  listInput,
  type PutEntriesInput,
  putEntriesInput,
  type SimilarInput,
  type SyncRequest,
  similarInput,
  syncInput,
  touchInput,
} from '../model/entry-input.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { LiveHandlers, LiveQueries, Subscription } from '../model/live.ts'
import { type WatchInput, watchInput } from '../model/live.ts'
import type { CallContext, Operation, Progress } from '../model/operation.ts'
import type { Count, ExplainAnswer, ExplainRequest, Page, PageChunk } from '../model/page.ts'
import { parseInput } from '../model/parse-input.ts'
import { isHolderName } from '../model/partition.ts'
import { type QueryInput, queryInput, type SuggestInput, type Suggestions, suggestInput } from '../model/query-input.ts'
import { type BackupRequest, backupInput, type DoctorRequest, doctorInput } from '../model/reports.ts'
import { type AccessScope, isOwner, LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import { MAX_IDLE_MS, paced } from '../pipeline/paced.ts'
import type { Answer } from '../pipeline/stage.ts'
import { turnsUntil } from '../pipeline/time-limit.ts'
import { Asking, streamQuery } from './asking.ts'
import type { Care } from './care/care.ts'
import { CursorHandles } from './cursor-handles.ts'
import { closedError } from './ending.ts'
import type {
  AddReport,
  Backup,
  Engine,
  EntryView,
  Examination,
  ExportLine,
  ListPage,
  ModelCheck,
  ModelList,
  Status,
  SyncReport,
  UsedModel,
  UseModelInput,
} from './engine.ts'
import type { NewVectors } from './entries.ts'
import { LensHosts, lensCalls } from './lens-hosts.ts'
import type { PipelineLive } from './live/pipeline-query.ts'
import type { SignedRequests } from './node-identity.ts'
import type { Parts } from './parts.ts'

type Context = Partial<CallContext> | undefined

/**
 * Maximum number of new chunks that get vectors before a query, if changed files were just read again for the query; if there are more
 * chunks, background work makes their vectors.
 */
const MAX_EMBEDDED_FIRST = 64

export class LocalEngine implements Omit<Engine, keyof Calls> {
  readonly #parts: Parts
  readonly #hosts: LensHosts
  readonly #asking: Asking
  #pipelineLive: PipelineLive | null = null
  readonly #closing = new AbortController()
  readonly cursors: CursorHandles
  readonly live: LiveQueries = {
    subscribe: async (source, options, handlers, signal) => {
      const { live } = await this.#loadLive()
      return live.subscribe(source, options, handlers, signal)
    },
    count: viewer => this.#pipelineLive?.live.count(viewer) ?? 0,
    endAll: viewer => this.#pipelineLive?.live.endAll(viewer),
  }
  #closed: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.cursors = new CursorHandles(parts.store, parts.clock)
    this.#asking = new Asking(parts, lens => this.host(lens))
    this.#hosts = new LensHosts(parts, {
      live: this.live,
      assertOpen: () => this.#mustBeOpen(),
      untilClosed: signal => this.#untilClosed(signal),
      accessScope: viewer => this.#accessScope(viewer),
      answer: (input, call) => this.#answer(input, call),
      engine: this,
    })
    parts.files.lendHosts(lens => this.host(lens))
  }

  async query(input: QueryInput, context?: Context): Promise<Page> {
    return (await this.#answer(input, context)).page
  }

  #answer(input: QueryInput, context?: Context): Promise<Answer> {
    return this.#asked(input, context, (asking, asked, call) => asking.query(asked, call))
  }

  count(input: QueryInput, context?: Context): Promise<Count> {
    return this.#asked(input, context, (asking, asked, call) => asking.count(asked, call))
  }

  #asked<T>(
    input: QueryInput,
    context: Context,
    body: (asking: Asking, input: QueryInput, call: CallContext) => Promise<T>,
  ): Promise<T> {
    return this.#during(context, async call => {
      const asked = parseInput(queryInput, input)
      // Checks the query before a lens prepares anything for it, so that an error in the query is reported at once.
      this.#asking.resolve(asked, call)
      return body(await this.#asking.for(asked, call), asked, call)
    })
  }

  stream(input: QueryInput, context?: Context): AsyncIterableIterator<PageChunk> {
    const call = this.#call(context)
    const asked = parseInput(queryInput, input)
    const signal = this.#untilClosed(call.signal)
    const timers = this.#parts.live.timers ?? systemTimers
    return paced(stop => streamQuery(this.#asking, asked, { ...call, signal: stop }), {
      signal,
      idleMs: MAX_IDLE_MS,
      after: (ms, callback) => timers.after(ms, callback),
    })
  }

  subscribe(input: WatchInput, handlers: LiveHandlers, context?: Context): Promise<Subscription> {
    return this.#during(context, async call => {
      const request = parseInput(watchInput, input)
      return (await this.#loadLive()).subscribe(request, handlers, call)
    })
  }

  explain(input: ExplainRequest, context?: Context): Promise<ExplainAnswer> {
    return this.#during(context, async call => {
      const request = parseInput(explainInput, input)
      this.#asking.resolve(request.query, call)
      return (await this.#asking.for(request.query, call)).explain(request, call)
    })
  }

  similar(input: SimilarInput, context?: Context): Promise<Page> {
    return this.#during(context, call => this.#asking.similar(parseInput(similarInput, input), call))
  }

  get(input: GetInput, context?: Context): Promise<EntryView> {
    return this.#during(context, async ({ viewer }) => {
      const { store } = this.#parts
      const { id, touch = true } = parseInput(getInput, input)
      const { requireVisible, viewEntry } = await import('./listing.ts')
      const accessScope = this.#accessScope(viewer)
      const entry = requireVisible(store, id, accessScope)
      if (touch) this.#asking.used([entry.key], viewer)
      const access = store.access(viewer, [entry.key]).get(entry.key) ?? null
      return store.read(reader => viewEntry(entry, access, accessScope, reader))
    })
  }

  touch(input: { readonly ids: readonly string[] }, context?: Context): ReturnType<Engine['touch']> {
    return this.#during(context, async ({ viewer }) => {
      const { requireVisible } = await import('./listing.ts')
      const accessScope = this.#accessScope(viewer)
      const ids = [...new Set(parseInput(touchInput, input).ids)]
      this.#asking.used(
        ids.map(id => requireVisible(this.#parts.store, id, accessScope).key),
        viewer,
      )
      return { touched: ids.length }
    })
  }

  list(input: ListInput, context?: Context): Promise<ListPage> {
    return this.#during(context, async ({ viewer }) => {
      const request = parseInput(listInput, input)
      const { listEntries } = await import('./listing.ts')
      return listEntries(this.#parts, request, this.#accessScope(viewer))
    })
  }

  suggest(input: SuggestInput, context?: Context): Promise<Suggestions> {
    return this.#during(context, async ({ viewer }) => {
      const request = parseInput(suggestInput, input)
      const { suggest } = await import('./listing.ts')
      return { suggestions: suggest(this.#parts.store, request, this.#accessScope(viewer)) }
    })
  }

  put(input: PutEntriesInput, context?: Context): ReturnType<Engine['put']> {
    return this.#during(context, async call => {
      const { entries, wait = false } = parseInput(putEntriesInput, input)
      const { putEntries } = await import('./entries.ts')
      const summary = await putEntries(this.#parts, entries, call.viewer, turnsUntil(call.signal))
      return { ...summary, embedding_error: await this.#embedNew(wait, call) }
    })
  }

  add(input: AddRequest, context?: Context): Promise<AddReport> {
    return this.#ownersOwn('add', context, async call => {
      const request = parseInput(addInput, input)
      const started = performance.now()
      const { addFiles } = await import('./add-files.ts')
      const counts = await addFiles(this.#parts, request, call)
      const embeddingError = await this.#embedNew(request.wait ?? true, call)
      const pending = (await this.#vectors()).pending(this.#accessScope(call.viewer).partitions)
      return { ...counts, pending, embedding_error: embeddingError, ms: Math.round(performance.now() - started) }
    })
  }

  sync(input: SyncRequest = {}, context?: Context): Promise<SyncReport> {
    return this.#ownersOwn('sync', context, async call => {
      const request = parseInput(syncInput, input)
      const started = performance.now()
      const { changes, report } = await this.#parts.files.sync(request, call)
      const embeddingError = await this.#embedNew((request.wait ?? true) && request.dry_run !== true, call)
      const pending = (await this.#vectors()).pending(this.#accessScope(call.viewer).partitions)
      const ms = Math.round(performance.now() - started)
      return { ...report, paths: this.#parts.files.statesOf(changes), pending, embedding_error: embeddingError, ms }
    })
  }

  async readChanges(context?: Context): Promise<void> {
    const call = this.#call(context)
    if (!isOwner(call.viewer) || this.#parts.files.isWatched) return
    const made = await this.#parts.files.readQuickly(call)
    if (made !== null && made.chunks <= MAX_EMBEDDED_FIRST) await this.#embedNew(true, call).catch(() => null)
  }

  delete(input: { readonly ids: readonly string[] }, context?: Context): Promise<{ deleted: number }> {
    return this.#during(context, async ({ viewer, signal }) => {
      const { ids } = parseInput(idsInput, input)
      const { deleteEntries } = await import('./entries.ts')
      return { deleted: await deleteEntries(this.#parts, ids, this.#accessScope(viewer), turnsUntil(signal)) }
    })
  }

  status(context?: Context): Promise<Status> {
    return this.#during(context, async ({ viewer, signal }) => {
      const { statusOf } = await import('./listing.ts')
      return statusOf(this.#parts, () => this.#accessScope(viewer), { viewer, signal })
    })
  }

  feedLag(): number {
    this.#mustBeOpen()
    return this.#parts.indexes.lag
  }

  doctor(input: DoctorRequest = {}, context?: Context): Promise<Examination> {
    return this.#ownersOwn('doctor', context, async call => {
      const request = parseInput(doctorInput, input)
      return (await this.#care()).doctor(request, call)
    })
  }

  models(context?: Context): Promise<ModelList> {
    return this.#ownersOwn('models', context, async () => this.#parts.models.list())
  }

  checkModel(folder: string, context?: Context): Promise<ModelCheck> {
    return this.#ownersOwn('check_model', context, () => this.#parts.models.check(folder))
  }

  useModel(input: UseModelInput, context?: Context): Promise<UsedModel> {
    return this.#ownersOwn('use_model', context, async ({ signal, report }) => {
      const used = await this.#parts.models.use(input)
      if (input.wait === true) await this.#parts.embedding?.settled(signal, report)
      return used
    })
  }

  backup(input: BackupRequest, context?: Context): Promise<Backup> {
    return this.#ownersOwn('backup', context, async call => {
      const request = parseInput(backupInput, input)
      return (await this.#care()).backup(request, call)
    })
  }

  async *export(context?: Context): AsyncGenerator<ExportLine> {
    const { viewer, signal } = this.#call(context)
    ownerOnly(viewer, 'export')
    const { store, tables, registry, uses } = this.#parts
    uses.flush()
    for (const { name, transfer } of this.lenses) transfer?.flush?.(this.host(name))
    const lenses = await registry.everyLens()
    const { exportInTurns } = await import('./export.ts')
    const check = () => {
      this.#mustBeOpen()
      if (signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the export')
    }
    yield* exportInTurns({ store, tables, lenses }, new Turns(check), check)
  }

  import(lines: AsyncIterable<unknown>, context?: Context): ReturnType<Engine['import']> {
    return this.#ownersOwn('import', context, async ({ signal }) => {
      const { store, tables, clock, random, registry } = this.#parts
      const lenses = await registry.everyLens()
      const parts = { tables, lenses, random, now: clock.now() }
      const { importLines } = await import('./import.ts')
      const counts = await importLines(store, lines, parts, turnsUntil(signal))
      this.#parts.embedding?.start()
      return counts
    })
  }

  embedded(report?: (progress: Progress) => void): Promise<void> {
    return this.#during(undefined, ({ signal }) => this.#parts.embedding?.settled(signal, report))
  }

  get lenses(): readonly Lens[] {
    return this.#parts.registry.all
  }

  get lensOperations(): readonly { readonly lens: string; readonly operation: Operation<LensHost> }[] {
    return this.lenses.flatMap(lens => (lens.operations ?? []).map(operation => ({ lens: lens.name, operation })))
  }

  as(viewer: Viewer): Calls {
    // The cast is safe: the functions for lens operations were added to this object when the engine was opened.
    return lensCalls(this as unknown as Engine, viewer)
  }

  get limits(): Limits {
    return this.#parts.limits
  }

  get signedRequests(): SignedRequests {
    return must(this.#parts.signedRequests, 'the identity of this node')
  }

  host(lens: string): LensHost {
    this.#mustBeOpen()
    return this.#hosts.of(lens)
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #end(): Promise<void> {
    this.#pipelineLive?.live.close()
    this.#closing.abort(closedError())
    this.cursors.end()
    return this.#parts.close()
  }

  /**
   * Runs the body of a method call. If the engine is closed during the call, errors that result from the closing are replaced by the error
   * for a closed engine.
   */
  async #during<T>(context: Context, body: (call: CallContext) => T | Promise<T>): Promise<T> {
    const call = this.#call(context)
    try {
      return await body(call)
    } catch (error) {
      const isOwn = error instanceof QuerentError && (error.code !== 'cancelled' || context?.signal?.aborted)
      throw this.#closed === null || isOwn ? error : closedError()
    }
  }

  /**
   * Runs the body of a method that only the local owner may call and that may take long: other viewers get `denied`, and the body's signal
   * is aborted when the engine is closed.
   */
  #ownersOwn<T>(what: string, context: Context, body: (call: CallContext) => Promise<T>): Promise<T> {
    return this.#during(context, call => {
      ownerOnly(call.viewer, what)
      return body({ ...call, signal: this.#untilClosed(call.signal) })
    })
  }

  #call(context: Context): CallContext {
    this.#mustBeOpen()
    const { viewer = LOCAL_OWNER, signal = this.#closing.signal, now, rows } = context ?? {}
    const { report, remote, isStillAllowed } = context ?? {}
    if (!isViewer(viewer)) throw invalidArgument('viewer', viewer, 'an object with the id of an agent')
    return { viewer, signal, now, rows, report, remote, isStillAllowed }
  }

  // Modules that most calls do not need are imported on first use: most calls are queries, and a short command pays for each module.

  async #loadLive(): Promise<PipelineLive> {
    const { PipelineLive } = await import('./live/pipeline-query.ts')
    this.#mustBeOpen()
    this.#pipelineLive ??= new PipelineLive(this.#parts, this.#asking)
    return this.#pipelineLive
  }

  async #vectors(): Promise<NewVectors> {
    const { NewVectors } = await import('./entries.ts')
    return new NewVectors(this.#parts)
  }

  async #care(): Promise<Care> {
    const { Care } = await import('./care/care.ts')
    return new Care(
      this.#parts,
      async call => (await this.#vectors()).make(true, call),
      lens => this.host(lens),
    )
  }

  /** A signal that is aborted when the given signal is, and also when the engine is closed; for operations that may take long. */
  #untilClosed(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal])
  }

  #mustBeOpen(): void {
    if (this.#closed !== null) throw closedError()
  }

  #accessScope(viewer: Viewer): AccessScope {
    this.#mustBeOpen()
    return this.#asking.look(viewer)
  }

  /**
   * Makes missing vectors of the viewer's chunks, and waits for them with `wait`. Returns why some are still missing, or null. Whatever it
   * returns, entries already written stay and are found by word search.
   */
  async #embedNew(wait: boolean, call: CallContext): Promise<string | null> {
    const vectors = await this.#vectors()
    const failure = await vectors.make(wait, { ...call, signal: this.#untilClosed(call.signal) })
    return vectors.missing(this.#accessScope(call.viewer), failure)
  }
}

function ownerOnly(viewer: Viewer, what: string): void {
  if (!isOwner(viewer)) throw new QuerentError('denied', `${what} is for the local owner only`, { operation: what })
}

function isViewer(viewer: unknown): viewer is Viewer {
  const id = (viewer as Partial<Viewer> | null)?.id
  return typeof id === 'string' && isHolderName(id)
}
