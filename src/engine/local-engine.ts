/** The engine over one store: wires store, indexes, embedder, pipeline and lenses, and keeps them in step. */
import { modelKey } from '../embed/embedder.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
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
import { QuerentError } from '../model/errors.ts'
import type { CallContext, Operation, Progress } from '../model/operation.ts'
import type { Page } from '../model/page.ts'
import { parseInput } from '../model/parse-input.ts'
import { type QueryInput, queryInput } from '../model/query-input.ts'
import { isOwner, LOCAL_OWNER, type Sight, type Viewer } from '../model/viewer.ts'
import { Asking } from './asking.ts'
import { examine } from './doctor.ts'
import type {
  AddReport,
  AddRequest,
  Engine,
  EntryView,
  ExplainAnswer,
  ExplainRequest,
  ExportLine,
  Finding,
  ListInput,
  ListPage,
  Status,
} from './engine.ts'
import { deleteEntries, mustSee, putEntries } from './entries.ts'
import { viewEntry } from './entry-view.ts'
import { listEntries } from './listing.ts'
import type { Parts } from './parts.ts'
import { statusOf } from './status.ts'
import { exportLines, importLines } from './transfer.ts'
import { VERSION } from './version.ts'

type Context = Partial<CallContext> | undefined

export class LocalEngine implements Engine {
  readonly #parts: Parts
  readonly #asking: Asking
  readonly #hosts = new Map<string, LensHost>()
  #closed: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    this.#asking = new Asking(parts)
  }

  async query(input: QueryInput, context?: Context): Promise<Page> {
    return this.#asking.query(parseInput(queryInput, input), this.#call(context))
  }

  async explain(input: ExplainRequest, context?: Context): Promise<ExplainAnswer> {
    return this.#asking.explain(parseInput(explainInput, input), this.#call(context))
  }

  async similar(input: SimilarInput, context?: Context): Promise<Page> {
    return this.#asking.similar(parseInput(similarInput, input), this.#call(context))
  }

  async get(input: { id: string }, context?: Context): Promise<EntryView> {
    const { id } = parseInput(idInput, input)
    const { viewer } = this.#call(context)
    const entry = mustSee(this.#parts.store, id, this.#sight(viewer))
    return viewEntry(entry, this.#parts.store.access(viewer, [entry.key]).get(entry.key) ?? null)
  }

  async list(input: ListInput, context?: Context): Promise<ListPage> {
    const { viewer } = this.#call(context)
    return listEntries(this.#parts, parseInput(listInput, input), this.#sight(viewer))
  }

  async put(
    input: PutEntriesInput,
    context?: Context,
  ): Promise<{ ids: readonly string[]; created: number; updated: number; unchanged: number }> {
    const { entries, wait } = parseInput(putEntriesInput, input)
    const { viewer, report } = this.#call(context)
    const { store, clock, random } = this.#parts
    const summary = putEntries(store, entries, viewer, clock, random)
    await this.#follow(wait ?? false, report)
    return summary
  }

  async add(input: AddRequest, context?: Context): Promise<AddReport> {
    const request = parseInput(addInput, input)
    const { viewer, signal, report } = this.#call(context)
    this.#ownerOnly(viewer, 'add')
    const started = performance.now()
    const { store, clock, registry } = this.#parts
    const ingesters = registry.all.flatMap(lens => lens.ingesters ?? [])
    // Loaded when used: most calls ask, and should not wait for parsers of file formats.
    const { ingest } = await import('../ingest/ingest.ts')
    const counts = await ingest(
      store,
      {
        paths: request.paths,
        collection: request.collection ?? 'documents',
        kind: request.kind,
        tags: request.tags ?? [],
        visibility: request.visibility ?? 'private',
        federations: request.federations ?? [],
        map: request.map ?? {},
      },
      { viewer, now: clock.now(), signal, report, ingesters },
    )
    const embeddingError = await this.#follow(request.wait ?? true, report)
    const { partitions } = this.#sight(viewer)
    return {
      ...counts,
      pending: this.#pending(partitions),
      embedding_error: embeddingError,
      ms: Math.round(performance.now() - started),
    }
  }

  async delete(input: { readonly ids: readonly string[] }, context?: Context): Promise<{ deleted: number }> {
    const { ids } = parseInput(idsInput, input)
    const { viewer } = this.#call(context)
    return { deleted: deleteEntries(this.#parts.store, ids, this.#sight(viewer), this.#parts.clock.now()) }
  }

  async status(context?: Context): Promise<Status> {
    const { viewer } = this.#call(context)
    const { store, home, embedder, embedderError, indexes, registry } = this.#parts
    indexes.refresh()
    return statusOf({
      version: VERSION,
      reader: store,
      sight: this.#sight(viewer),
      home,
      embedder,
      embedderError,
      indexes: indexes.all,
      lenses: registry.all.map(lens => lens.name),
    })
  }

  async doctor(context?: Context): Promise<{ ok: boolean; findings: readonly Finding[] }> {
    this.#ownerOnly(this.#call(context).viewer, 'doctor')
    const { store, home, embedder, embedderError, indexes, makeIndex } = this.#parts
    const findings = await examine({
      store,
      home,
      embedder,
      embedderError,
      indexes: indexes.all,
      fresh: index => makeIndex(index.name),
    })
    return { ok: findings.every(finding => finding.ok), findings }
  }

  async *export(context?: Context): AsyncGenerator<ExportLine> {
    this.#ownerOnly(this.#call(context).viewer, 'export')
    // Everything is read under one snapshot of the store, so lines of one export belong together.
    yield* this.#parts.store.read(reader => [...exportLines(reader, this.#parts.tables)])
  }

  async import(lines: AsyncIterable<unknown>, context?: Context): Promise<{ entries: number; rows: number }> {
    this.#ownerOnly(this.#call(context).viewer, 'import')
    const { store, tables, clock } = this.#parts
    const counts = await importLines(store, lines, tables, clock.now())
    this.#parts.embedding?.start()
    return counts
  }

  async embedded(report?: (progress: Progress) => void): Promise<void> {
    await this.#parts.embedding?.settled(report)
  }

  get lenses(): readonly Lens[] {
    return this.#parts.registry.all
  }

  get lensOperations(): readonly { readonly lens: string; readonly operation: Operation<LensHost> }[] {
    return this.lenses.flatMap(lens => (lens.operations ?? []).map(operation => ({ lens: lens.name, operation })))
  }

  host(lens: string): LensHost {
    const made = this.#hosts.get(lens) ?? this.#makeHost(this.#parts.registry.must(lens))
    this.#hosts.set(lens, made)
    return made
  }

  close(): Promise<void> {
    this.#closed ??= this.#parts.close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #makeHost(lens: Lens): LensHost {
    const { store, clock, embedder, random, lensSettings, indexes } = this.#parts
    const given = lensSettings[lens.name]
    return {
      store,
      clock,
      embedder,
      random,
      settings: lens.settings ? lens.settings(given) : given,
      sight: viewer => this.#sight(viewer),
      index: name => {
        indexes.refresh()
        return indexes.get(name)
      },
      query: (input, viewer) => this.query({ lens: lens.name, ...input }, { viewer }),
    }
  }

  #call(context: Context): CallContext {
    if (this.#closed !== null) throw new QuerentError('invalid_argument', 'engine: it is closed; open it again')
    const { viewer = LOCAL_OWNER, signal = new AbortController().signal, report } = context ?? {}
    return { viewer, signal, report }
  }

  #sight(viewer: Viewer): Sight {
    return this.#asking.look(viewer)
  }

  #ownerOnly(viewer: Viewer, what: string): void {
    if (!isOwner(viewer)) throw new QuerentError('denied', `${what} is for the local owner only`, { operation: what })
  }

  /** Why embedding could not be finished, or null. What was written stays written, and is found by words. */
  async #follow(wait: boolean, report: CallContext['report']): Promise<string | null> {
    const { embedding, indexes } = this.#parts
    if (!wait) {
      embedding?.start()
      return null
    }
    try {
      await embedding?.settled(report)
      indexes.refresh()
      return null
    } catch (error) {
      if (error instanceof QuerentError && error.kind === 'unavailable') return error.message
      throw error
    }
  }

  #pending(partitions: readonly number[]): number {
    const { store, embedder } = this.#parts
    if (embedder === null) return 0
    return store.countChunks(partitions) - store.countVectors(modelKey(embedder.model), partitions)
  }
}
