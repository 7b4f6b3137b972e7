/** The engine over one store: wires store, indexes, embedder, pipeline and lenses, and keeps them in step. */
import { systemClock } from '../base/clock.ts'
import { modelKey } from '../embed/embedder.ts'
import type { Limits } from '../identity/limits.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
import { type BackupRequest, backupInput, type DoctorRequest, doctorInput } from '../model/care-input.ts'
import {
  addInput,
  explainInput,
  idInput,
  idsInput,
  listInput,
  type PutEntriesInput,
  putEntriesInput,
  type SimilarInput,
  similarInput,
} from '../model/entry-input.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { LiveHandlers, LiveQueries, Subscription } from '../model/live.ts'
import { type WatchInput, watchInput } from '../model/live-input.ts'
import type { CallContext, Operation, Progress } from '../model/operation.ts'
import type { Page, PageChunk } from '../model/page.ts'
import { parseInput } from '../model/parse-input.ts'
import { isHolderName } from '../model/partition.ts'
import { type QueryInput, queryInput } from '../model/query-input.ts'
import { isOwner, LOCAL_OWNER, type Sight, type Viewer } from '../model/viewer.ts'
import { MOST_IDLE_MS, paced } from '../pipeline/paced.ts'
import { Asking } from './asking.ts'
import { Care } from './care/care.ts'
import type {
  AddReport,
  AddRequest,
  Backup,
  Engine,
  EntryView,
  Examination,
  ExplainAnswer,
  ExplainRequest,
  ExportLine,
  ListInput,
  ListPage,
  Status,
} from './engine.ts'
import { deleteEntries, mustSee, putEntries } from './entries.ts'
import { viewEntry } from './entry-view.ts'
import { exportLines } from './export.ts'
import { importLines } from './import.ts'
import { listEntries } from './listing.ts'
import { StandingQuestions } from './live/standing-questions.ts'
import { systemTimers } from './live/timers.ts'
import type { Parts } from './parts.ts'
import { streamQuery } from './query-stream.ts'
import { type SignedRequests, signedRequests } from './signed-requests.ts'
import { statusOf } from './status.ts'
import { VERSION } from './version.ts'

type Context = Partial<CallContext> | undefined

export class LocalEngine implements Engine {
  readonly #parts: Parts
  readonly #asking: Asking
  readonly #care: Care
  readonly #hosts = new Map<string, LensHost>()
  readonly #standing: StandingQuestions
  readonly #closing = new AbortController()
  #signedRequests: SignedRequests | null = null
  #closed: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.#asking = new Asking(parts, lens => this.host(lens))
    this.#standing = new StandingQuestions(parts, this.#asking)
    this.#care = new Care(parts, call => this.#embedNew(true, call))
  }

  query(input: QueryInput, context?: Context): Promise<Page> {
    return this.#during(context, call => this.#asking.query(parseInput(queryInput, input), call))
  }

  stream(input: QueryInput, context?: Context): AsyncIterableIterator<PageChunk> {
    const call = this.#call(context)
    const asked = parseInput(queryInput, input)
    const signal = this.#orClosing(call.signal)
    const timers = this.#parts.live.timers ?? systemTimers
    return paced(stop => streamQuery(this.#asking, asked, { ...call, signal: stop }), {
      signal,
      idleMs: MOST_IDLE_MS,
      after: (ms, callback) => timers.after(ms, callback),
    })
  }

  subscribe(input: WatchInput, handlers: LiveHandlers, context?: Context): Promise<Subscription> {
    return this.#during(context, call => this.#standing.subscribe(parseInput(watchInput, input), handlers, call))
  }

  explain(input: ExplainRequest, context?: Context): Promise<ExplainAnswer> {
    return this.#during(context, call => this.#asking.explain(parseInput(explainInput, input), call))
  }

  similar(input: SimilarInput, context?: Context): Promise<Page> {
    return this.#during(context, call => this.#asking.similar(parseInput(similarInput, input), call))
  }

  get(input: { id: string }, context?: Context): Promise<EntryView> {
    return this.#during(context, ({ viewer }) => {
      const { store } = this.#parts
      const entry = mustSee(store, parseInput(idInput, input).id, this.#sight(viewer))
      return viewEntry(entry, store.access(viewer, [entry.key]).get(entry.key) ?? null, viewer, store)
    })
  }

  list(input: ListInput, context?: Context): Promise<ListPage> {
    return this.#during(context, ({ viewer }) =>
      listEntries(this.#parts, parseInput(listInput, input), this.#sight(viewer)),
    )
  }

  put(input: PutEntriesInput, context?: Context): ReturnType<Engine['put']> {
    return this.#during(context, async call => {
      const { entries, wait } = parseInput(putEntriesInput, input)
      const { store, clock, random } = this.#parts
      const summary = putEntries(store, entries, call.viewer, clock, random)
      return { ...summary, embedding_error: await this.#follow(wait ?? false, call) }
    })
  }

  add(input: AddRequest, context?: Context): Promise<AddReport> {
    return this.#during(context, async call => {
      const request = parseInput(addInput, input)
      this.#ownerOnly(call.viewer, 'add')
      const lens = request.lens === undefined ? undefined : this.#parts.registry.must(request.lens)
      const started = performance.now()
      const { store, clock } = this.#parts
      // Loaded when used: most calls ask, and should not wait for parsers of file formats.
      const { ingest } = await import('../ingest/ingest.ts')
      const counts = await ingest(
        store,
        {
          paths: request.paths,
          collection: request.collection ?? lens?.name ?? 'documents',
          kind: request.kind,
          tags: request.tags ?? [],
          visibility: request.visibility ?? 'private',
          federations: request.federations ?? [],
          map: request.map ?? {},
        },
        { ...call, signal: this.#orClosing(call.signal), now: clock.now(), ingesters: lens?.ingesters },
      )
      const embeddingError = await this.#follow(request.wait ?? true, call)
      const { partitions } = this.#sight(call.viewer)
      return {
        ...counts,
        pending: this.#pending(partitions),
        embedding_error: embeddingError,
        ms: Math.round(performance.now() - started),
      }
    })
  }

  delete(input: { readonly ids: readonly string[] }, context?: Context): Promise<{ deleted: number }> {
    return this.#during(context, ({ viewer }) => {
      const { ids } = parseInput(idsInput, input)
      return { deleted: deleteEntries(this.#parts.store, ids, this.#sight(viewer), this.#parts.clock.now()) }
    })
  }

  status(context?: Context): Promise<Status> {
    return this.#during(context, ({ viewer }) => {
      const { store, home, embedder, embedderError, indexes, registry } = this.#parts
      indexes.refresh()
      return statusOf({
        version: VERSION,
        store,
        sight: this.#sight(viewer),
        home,
        embedder,
        embedderError,
        indexes: indexes.all,
        lenses: registry.all.map(lens => lens.name),
        upkeep: store.upkeep,
      })
    })
  }

  doctor(input: DoctorRequest = {}, context?: Context): Promise<Examination> {
    return this.#during(context, call => {
      this.#ownerOnly(call.viewer, 'doctor')
      return this.#care.doctor(parseInput(doctorInput, input), { ...call, signal: this.#orClosing(call.signal) })
    })
  }

  backup(input: BackupRequest, context?: Context): Promise<Backup> {
    return this.#during(context, call => {
      this.#ownerOnly(call.viewer, 'backup')
      return this.#care.backup(parseInput(backupInput, input), { ...call, signal: this.#orClosing(call.signal) })
    })
  }

  async *export(context?: Context): AsyncGenerator<ExportLine> {
    this.#ownerOnly(this.#call(context).viewer, 'export')
    // Everything is read under one snapshot of the store, so lines of one export belong together.
    yield* this.#parts.store.read(reader => [...exportLines(reader, this.#parts.tables)])
  }

  import(lines: AsyncIterable<unknown>, context?: Context): Promise<{ entries: number; rows: number }> {
    return this.#during(context, async ({ viewer }) => {
      this.#ownerOnly(viewer, 'import')
      const { store, tables, clock } = this.#parts
      const counts = await importLines(store, lines, tables, clock.now())
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

  get limits(): Limits {
    return this.#parts.limits
  }

  get live(): LiveQueries {
    return this.#standing.live
  }

  get signedRequests(): SignedRequests {
    const { store, random } = this.#parts
    this.#signedRequests ??= signedRequests({ store, random, clock: systemClock })
    return this.#signedRequests
  }

  host(lens: string): LensHost {
    this.#mustBeOpen()
    const made = this.#hosts.get(lens) ?? this.#makeHost(this.#parts.registry.must(lens))
    this.#hosts.set(lens, made)
    return made
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #makeHost(lens: Lens): LensHost {
    const { store, clock, embedder, random, lensSettings, environment, indexes, sources } = this.#parts
    const given = lensSettings[lens.name]
    const own = `${lens.name.toUpperCase()}_`
    const variables = Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith(own)))
    return {
      store,
      clock,
      embedder,
      random,
      log: this.#parts.log,
      settings: lens.settings ? lens.settings(given, variables) : given,
      sight: viewer => this.#sight(viewer),
      embedded: async (signal, report) => {
        await this.#parts.embedding?.settled(this.#orClosing(signal), report)
        indexes.refresh()
      },
      workspace: this.#parts.workspace,
      index: name => {
        this.#mustBeOpen()
        indexes.refresh()
        return indexes.get(name)
      },
      source: name => {
        this.#mustBeOpen()
        return sources.get(name)
      },
      live: this.live,
      query: (input, viewer) => this.query({ lens: lens.name, ...input }, { viewer }),
    }
  }

  #end(): Promise<void> {
    this.#standing.close()
    this.#closing.abort(closedError())
    return this.#parts.close()
  }

  /** Whatever a call fails with because the engine was closed meanwhile, it is told so. */
  async #during<T>(context: Context, body: (call: CallContext) => T | Promise<T>): Promise<T> {
    const call = this.#call(context)
    try {
      return await body(call)
    } catch (error) {
      const isOwn = error instanceof QuerentError && (error.code !== 'cancelled' || context?.signal?.aborted)
      throw this.#closed === null || isOwn ? error : closedError()
    }
  }

  #call(context: Context): CallContext {
    this.#mustBeOpen()
    const { viewer = LOCAL_OWNER, signal = this.#closing.signal, report, remote, isStillAllowed } = context ?? {}
    if (!isViewer(viewer)) throw invalidArgument('viewer', viewer, 'an object with the id of an agent')
    return { viewer, signal, report, remote, isStillAllowed }
  }

  /** For what takes long: ends with the engine too. */
  #orClosing(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal])
  }

  #mustBeOpen(): void {
    if (this.#closed !== null) throw closedError()
  }

  #sight(viewer: Viewer): Sight {
    this.#mustBeOpen()
    return this.#asking.look(viewer)
  }

  #ownerOnly(viewer: Viewer, what: string): void {
    if (!isOwner(viewer)) throw new QuerentError('denied', `${what} is for the local owner only`, { operation: what })
  }

  /** Why embedding could not be finished, or null. What was written stays written, and is found by words. */
  async #follow(wait: boolean, call: CallContext): Promise<string | null> {
    const failure = await this.#embedNew(wait, call)
    const { partitions } = this.#sight(call.viewer)
    if (this.#pending(partitions) === 0) return null
    const { count, message } = this.#parts.embedding?.refused(partitions) ?? { count: 0, message: null }
    const refused = message === null ? null : `the embedder refuses ${count === 1 ? 'one text' : `${count} texts`}`
    // What an embedder said may quote a text, and not one that this viewer may see.
    if (!isOwner(call.viewer)) return failure === null ? refused : 'the embedder failed'
    return failure ?? (refused === null ? null : `${refused}: ${message}`)
  }

  async #embedNew(wait: boolean, { report, signal }: CallContext): Promise<string | null> {
    const { embedding, indexes } = this.#parts
    if (!wait) {
      embedding?.start()
      return null
    }
    try {
      await embedding?.settled(this.#orClosing(signal), report)
      indexes.refresh()
      return null
    } catch (error) {
      if (error instanceof QuerentError && error.code !== 'cancelled') return error.message
      throw error
    }
  }

  #pending(partitions: readonly number[]): number {
    const { store, embedder } = this.#parts
    if (embedder === null) return 0
    return store.countChunks(partitions) - store.countVectors(modelKey(embedder.model), partitions)
  }
}

function isViewer(viewer: unknown): viewer is Viewer {
  const id = (viewer as Partial<Viewer> | null)?.id
  return typeof id === 'string' && isHolderName(id)
}

function closedError(): QuerentError {
  return new QuerentError('invalid_argument', 'engine: it is closed; open it again')
}
