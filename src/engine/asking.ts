/**
 * Answers queries: passes the parts of this engine that a query needs to the query pipeline, and records which entries were shown, because
 * use affects later ranks.
 */

import { z } from 'zod'
import type { Instant } from '../base/clock.ts'
import { requesterOf } from '../identity/rates.ts'
import type { LensHost, Scratch } from '../lenses/lens.ts'
import type { EntryKey } from '../model/entry.ts'
import type { SimilarInput } from '../model/entry-input.ts'
import { QuerentError } from '../model/errors.ts'
import { DEFAULT_CHUNK_SIZE } from '../model/limits.ts'
import type { CallContext } from '../model/operation.ts'
import type { Count, ExplainAnswer, ExplainRequest, Note, Page, PageChunk } from '../model/page.ts'
import { parseInput } from '../model/parse-input.ts'
import type { Query } from '../model/query.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { AccessScope, Viewer } from '../model/viewer.ts'
import { placeOf } from '../pipeline/cursor.ts'
import { CachedOrders, type CachedPage } from '../pipeline/later-pages.ts'
import { resolveQuery } from '../pipeline/resolve-query.ts'
import { type Part, runPart, runQuery } from '../pipeline/run.ts'
import type { Answer, Plan, Stages } from '../pipeline/stage.ts'
import type { Store } from '../store/store.ts'
import { SAMPLE } from '../text/language.ts'
import { indexesOf } from './index-set.ts'
import type { Parts } from './parts.ts'
import { type MadeContext, QuestionContexts } from './question-contexts.ts'

const NO_OPTIONS = z.strictObject({})
type OptionsSchema = z.ZodType<{ readonly options: unknown }>

const NO_MODEL = { embedder: null, embedderError: null } as const

const UNCOUNTED: readonly string[] = ['store_locked', 'store_readonly', 'io_failed']

/** Answer to a query that a live subscription watches, with its time. */
export interface WatchedAnswer {
  readonly answer: Answer
  readonly asOf: Instant
  /**
   * Next instant at which the validity period of an entry visible to the viewer begins or ends, so that the answer may change without a
   * write; infinite: there is none.
   */
  readonly nextBound: Instant
}

interface CachedPlace {
  hold(part: Part): void
  find(): CachedPage | null
  release(): void
}

interface Prepared extends MadeContext {
  readonly stages: Stages
}

export class Asking {
  readonly #parts: Parts
  readonly #contexts: QuestionContexts
  readonly #held = new CachedOrders(requesterOf)
  readonly #stages = new Map<string, Stages>()
  readonly #host: (lens: string) => LensHost
  readonly #options = new Map<string, OptionsSchema>()
  /**
   * Objects that answer queries on temporary stores in memory; a lens may prepare one of these stores to be queried in place of the
   * engine's own.
   */
  readonly #others = new WeakMap<Scratch, Asking>()
  readonly #resolved = new WeakMap<QueryInput, { readonly viewer: string; readonly query: Query }>()
  readonly #countsUse: boolean
  #streams = 0

  /**
   * `parts`: the parts of the engine that queries use. `of`: if `parts` belong to a temporary store in memory, the object that answers
   * queries on the engine's own store; null if `parts` are the engine's own.
   */
  constructor(parts: Parts, host: (lens: string) => LensHost, of: Asking | null = null) {
    this.#parts = parts
    this.#host = host
    this.#countsUse = of === null
    this.#contexts = new QuestionContexts(parts, of === null ? null : () => of.secret())
    parts.indexes.beforeChange(() => this.#held.settleSome())
  }

  get store(): Store {
    return this.#parts.store
  }

  /**
   * The object that answers this query: on the engine's store, or on a temporary store in memory that the query's lens has prepared for
   * this viewer. Throws the same errors as running the query.
   */
  async for(input: Pick<QueryInput, 'lens'>, call: Pick<CallContext, 'viewer' | 'signal'>): Promise<Asking> {
    const { registry, defaultLens } = this.#parts
    const lens = registry.must(input.lens ?? defaultLens)
    const scratch = (await lens.prepare?.(this.#host(lens.name), call)) ?? null
    return scratch === null ? this : this.#over(scratch)
  }

  #over(scratch: Scratch): Asking {
    const { store } = scratch
    // A temporary store in memory is searched by words only, because computing vectors for all of its texts during one query would take too
    // long.
    const parts: Parts = { ...this.#parts, store, indexes: indexesOf(scratch), ...NO_MODEL }
    const asking = this.#others.get(scratch) ?? new Asking(parts, this.#host, this)
    this.#others.set(scratch, asking)
    return asking
  }

  look(viewer: Viewer): AccessScope {
    return this.#contexts.look(viewer)
  }

  /** The secret key with which this store's cursors and tokens are sealed and signed. */
  secret(): string {
    return this.#contexts.secret()
  }

  async query(input: QueryInput, call: CallContext): Promise<Answer> {
    const { stages, context, release } = await this.#prepare(input, call)
    try {
      const answer = await runQuery(stages, context, this.#held)
      this.#makeSecretFor(answer)
      if (context.query.touch) this.#touch(answer, call.viewer, context.query)
      return answer
    } finally {
      release()
    }
  }

  /** Checks the input of a streamed query and resolves it to the internal form of a query. Throws the errors that the query would throw. */
  resolve(input: QueryInput, call: Pick<CallContext, 'viewer' | 'now'>): Query {
    return this.#resolve(input, call.viewer, this.#now(call))
  }

  #now({ now }: Pick<CallContext, 'now'>): Instant {
    return now ?? this.#parts.clock.now()
  }

  /**
   * Computes the next `limit` items of an answer that is returned in several parts. `from`: the cached ranked list of the results, at which
   * to continue; null: none is cached, so the query runs from the start.
   */
  async part(query: Query, from: CachedPage | null, limit: number, call: CallContext): Promise<Part> {
    const now = () => this.#parts.clock.now()
    const made = (await this.#load(query, now(), call)) ?? this.#contexts.make(query, now(), call)
    const { context, release } = made
    try {
      const part = await runPart(this.#stagesOf(query.lens), context, { held: this.#held, from, limit })
      this.#makeSecretFor(part.answer)
      if (query.touch) this.#touch(part.answer, call.viewer, query)
      return part
    } finally {
      release()
    }
  }

  /**
   * Creates the store's secret now if the answer has a cursor, because the cursor may be sealed only after the store was closed; most
   * answers have no cursor and need no secret.
   */
  #makeSecretFor({ cursor }: Answer): void {
    if (cursor !== null) this.secret()
  }

  /**
   * The cached ranked list of results that belongs to the query's cursor; null if the query has no cursor or the list is no longer cached.
   */
  cachedFor(query: Query, { viewer }: CallContext): CachedPage | null {
    const { after } = query
    return after === null ? null : this.#held.find(placeOf(query, after), viewer.id, this.#parts.clock.now())
  }

  /**
   * A slot of the result cache in which a streamed answer keeps its order of results between two pieces. Reading the slot gives null if the
   * cache has dropped the order.
   */
  place({ viewer }: CallContext): CachedPlace {
    const name = `stream ${++this.#streams}`
    const now = () => this.#parts.clock.now()
    return {
      hold: ({ next, size }) => {
        if (next === null) this.#held.release(name)
        else this.#held.hold(name, viewer.id, next, size, now())
      },
      find: () => this.#held.find(name, viewer.id, now()),
      release: () => this.#held.release(name),
    }
  }

  /**
   * Caches the order of the results not yet returned, so that a later request with the cursor of this part of the answer continues in the
   * same order.
   */
  holdRest({ answer: { cursor }, next, size }: Part, { viewer }: CallContext): void {
    if (cursor === null || next === null) return
    this.#held.hold(cursor.place, viewer.id, next, size, this.#parts.clock.now())
  }

  /**
   * The current answer to a query of a live subscription, with its time and the next instant at which time alone may change it. Does not
   * count as use of the entries.
   */
  async standing(input: QueryInput, call: CallContext): Promise<WatchedAnswer> {
    const { stages, context } = await this.#prepare({ ...input, touch: false }, call)
    const answer = await runQuery(stages, context)
    const { asOf } = context.query
    const isOfThePast = input.as_of !== undefined
    return { answer, asOf, nextBound: isOfThePast ? Number.POSITIVE_INFINITY : this.#contexts.nextBound(context, asOf) }
  }

  /** The filter and the parsed text of a query, resolved as if the query were asked at the instant `at`. Throws the errors of the query. */
  conditions(input: QueryInput, at: Instant, call: CallContext): Pick<Plan, 'filter' | 'parsed'> {
    const { stages, context } = this.#prepareAtOnce(input, call)
    return stages.parse({ ...context.query, asOf: at }, context)
  }

  /** Explains how an entry was scored for a query. Does not count as use of the results. */
  async explain({ query, ...target }: ExplainRequest, call: CallContext): Promise<ExplainAnswer> {
    const { stages, context } = await this.#prepare({ ...query, touch: false }, call)
    const { explainEntry } = await import('../pipeline/explain.ts')
    return explainEntry(target, stages, context)
  }

  /** Counts the items that match a query. Does not count as use of the results. */
  async count(input: QueryInput, call: CallContext): Promise<Count> {
    const { stages, context } = await this.#prepare({ ...input, touch: false }, call)
    const { countItems } = await import('../pipeline/survey.ts')
    return countItems(stages, context)
  }

  async similar({ id, limit, group }: SimilarInput, call: CallContext): Promise<Page> {
    const { requireVisible } = await import('./listing.ts')
    const { similarTo } = await import('../pipeline/similar.ts')
    const entry = requireVisible(this.#parts.store, id, this.look(call.viewer))
    // The model for the entry's language is used: the main embedding model, or the second one for languages that the main model does not
    // know.
    const text = `${entry.title}\n${entry.content}`.slice(0, SAMPLE)
    const { stages, context } = await this.#prepare({ text, limit, group }, call)
    const answer = await runQuery(similarTo(entry, stages), context)
    if (context.query.touch) this.#touch(answer, call.viewer, context.query)
    // An answer with similar entries has no cursor for a next page; to get more entries, request a higher limit.
    return { ...answer.page, cursor: null }
  }

  async #prepare(input: QueryInput, call: CallContext): Promise<Prepared> {
    // Checks the query before any index is loaded, so that an error in the query is reported at once.
    const now = this.#now(call)
    const query = this.#resolve(input, call.viewer, now)
    const made = await this.#load(query, now, call)
    return made === null ? this.#prepareAtOnce(input, call) : { stages: this.#stagesOf(query.lens), ...made }
  }

  /**
   * Loads the indexes that the query needs: the word index, unless the answer needs no words, and the point indexes that the query's lens
   * names.
   */
  #load(query: Query, now: Instant, call: CallContext): Promise<MadeContext | null> {
    const { pointIndexes = [], readsWords = true } = this.#parts.registry.must(query.lens)
    const words = readsWords || call.rows !== 'keys' ? ['words'] : []
    return this.#contexts.load(query, [...words, ...pointIndexes.map(({ name }) => name)], now, call)
  }

  #prepareAtOnce(input: QueryInput, call: CallContext): Prepared {
    const now = this.#now(call)
    const query = this.#resolve(input, call.viewer, now)
    return { stages: this.#stagesOf(query.lens), ...this.#contexts.make(query, now, call) }
  }

  /**
   * Checks a query's input and resolves it to the internal form of a query; the result is cached for the same input object, viewer and
   * instant, because the check runs once before any index is loaded and again in the query itself.
   */
  #resolve(input: QueryInput, viewer: Viewer, now: Instant): Query {
    const known = this.#resolved.get(input)
    if (known !== undefined && known.viewer === viewer.id && known.query.begun === now) return known.query
    const { defaultLens, registry } = this.#parts
    const countsListing = (lens: string) => registry.must(lens).touch !== undefined
    const { fields } = this.#contexts
    const optionsOf = (lens: string, options: Readonly<Record<string, unknown>>) =>
      parseInput(this.#optionsSchemaOf(lens), { options }).options
    const asked = { viewer, now, secret: () => this.secret(), defaultLens, countsListing, optionsOf, fields }
    const query = resolveQuery(input, asked)
    if (input.cursor === undefined) this.#resolved.set(input, { viewer: viewer.id, query })
    return query
  }

  /** The option schemas of lenses are cached, because zod compiles a schema at its first parse, which takes a third of a millisecond. */
  #optionsSchemaOf(lens: string): OptionsSchema {
    const { registry } = this.#parts
    const schema = this.#options.get(lens) ?? z.strictObject({ options: registry.must(lens).options ?? NO_OPTIONS })
    this.#options.set(lens, schema)
    return schema
  }

  #stagesOf(lens: string): Stages {
    const stages = this.#stages.get(lens) ?? this.#parts.registry.stages(lens, this.#host)
    this.#stages.set(lens, stages)
    return stages
  }

  /** Counts a use of entries that the viewer opened or cited. If the store cannot be written at the moment, the use is not counted. */
  used(entries: readonly EntryKey[], viewer: Viewer): void {
    this.#count(() => this.#parts.uses.count(viewer, entries, this.#parts.clock.now()))
  }

  #touch(answer: Answer, viewer: Viewer, { lens, options }: Query): void {
    if (!this.#countsUse) return
    // Counts a use of each entry in the answer; several passages of one entry count as one use.
    const entries = [...new Set(answer.ranked.map(({ entry }) => entry))]
    if (entries.length === 0) return
    const { touch } = this.#parts.registry.must(lens)
    if (touch) this.#count(() => touch(this.#host(lens), viewer, entries, this.#parts.clock.now(), options))
    else this.used(entries, viewer)
  }

  /**
   * Counts uses in one small write transaction. A store that is read-only or on a full disk still answers queries; the uses are then not
   * counted.
   */
  #count(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!(error instanceof QuerentError && UNCOUNTED.includes(error.code))) throw error
    }
  }
}

/**
 * An answer sent in pieces. Together they hold the items that one page with the same limit would hold, in the same order. The viewer's
 * access is checked again before each piece; no transaction is open between pieces, and a piece is computed only when the caller requests
 * it.
 */
export async function* streamQuery(
  engine: Asking,
  { chunk_size = DEFAULT_CHUNK_SIZE, ...input }: QueryInput,
  call: CallContext,
): AsyncGenerator<PageChunk, void> {
  engine.resolve(input, call)
  const asking = await engine.for(input, call)
  let query = asking.resolve(input, call)
  const { limit } = query
  // Between two pieces of a streamed answer, the order of results is kept in the cache that also serves cursors, so a slow reader takes no
  // extra memory.
  const place = asking.place(call)
  let from = asking.cachedFor(query, call)
  const reports = new Reports()
  try {
    for (let shown = 0, isFirst = true; ; isFirst = false) {
      const part = await asking.part(query, from, Math.min(chunk_size, limit - shown), call)
      const { page, end, cursor } = part.answer
      shown += page.items.length
      const isLast = cursor === null || shown >= limit
      if (isLast) asking.holdRest(part, call)
      else place.hold(part)
      yield reports.chunkOf(part, isFirst, isLast ? null : shown / limit)
      if (isLast) return
      from = place.find()
      query = { ...query, after: end, cursor: null }
    }
  } finally {
    place.release()
  }
}

/**
 * Collects the notes and coverage that the pieces of a streamed answer report beside their items. The last piece adds what is missing for
 * all pieces together to report the same as one page with all items.
 */
class Reports {
  readonly #said = new Set<string>()
  /** Notes on a streamed answer that came up after its first piece was sent; they are sent with the last piece. */
  readonly #later: Note[] = []
  #isComplete = true

  /** Turns one part of the answer into a piece of the stream. `progress`: share of the query done so far; null for the last piece. */
  chunkOf({ answer: { page } }: Part, isFirst: boolean, progress: number | null): PageChunk {
    const { items, verdict, reason, verdict_by, nearest, did_you_mean, lens, mode, as_of } = page
    const { notes, coverage, cursor } = page
    this.#isComplete &&= coverage.complete
    this.#hear(notes, isFirst)
    const isLast = progress === null
    return {
      ...(isFirst && { verdict, reason, verdict_by, nearest, lens, mode, as_of, notes }),
      ...(isFirst && did_you_mean !== undefined && { did_you_mean }),
      items,
      progress: progress ?? 1,
      done: isLast,
      ...(isLast && { coverage: this.#isComplete ? coverage : { ...coverage, complete: false }, cursor }),
      ...(isLast && this.#later.length > 0 && { notes: this.#later }),
    }
  }

  #hear(notes: readonly Note[], isFirst: boolean): void {
    for (const note of notes) {
      if (this.#said.has(note.code)) continue
      this.#said.add(note.code)
      if (!isFirst) this.#later.push(note)
    }
  }
}
