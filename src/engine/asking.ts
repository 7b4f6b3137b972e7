/** Asks: gives the pipeline what a question needs from this engine, and counts the use of what it shows. */

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

/** The answer to a subscription. */
export interface WatchedAnswer {
  readonly answer: Answer
  readonly asOf: Instant
  /** When something that is visible next begins or ceases to hold; infinite: never. */
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
  /** By the store in memory that is asked in place of the engine's. */
  readonly #others = new WeakMap<Scratch, Asking>()
  readonly #resolved = new WeakMap<QueryInput, { readonly viewer: string; readonly query: Query }>()
  readonly #countsUse: boolean
  #streams = 0

  /** `of`: the one of the engine's store, where `parts` are those of another store in its place. */
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

  /** What answers this query: of the store that its lens answers this viewer from. Throws what asking would. */
  async for(input: Pick<QueryInput, 'lens'>, call: Pick<CallContext, 'viewer' | 'signal'>): Promise<Asking> {
    const { registry, defaultLens } = this.#parts
    const lens = registry.must(input.lens ?? defaultLens)
    const scratch = (await lens.prepare?.(this.#host(lens.name), call)) ?? null
    return scratch === null ? this : this.#over(scratch)
  }

  #over(scratch: Scratch): Asking {
    const { store } = scratch
    // Whatever is in it is found by words: to embed all of it for one query would take longer than anybody waits.
    const parts: Parts = { ...this.#parts, store, indexes: indexesOf(scratch), ...NO_MODEL }
    const asking = this.#others.get(scratch) ?? new Asking(parts, this.#host, this)
    this.#others.set(scratch, asking)
    return asking
  }

  look(viewer: Viewer): AccessScope {
    return this.#contexts.look(viewer)
  }

  /** What seals and signs for this store. */
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

  /** What a stream asks for piece by piece. Throws what asking would. */
  resolve(input: QueryInput, call: Pick<CallContext, 'viewer' | 'now'>): Query {
    return this.#resolve(input, call.viewer, this.#now(call))
  }

  #now({ now }: Pick<CallContext, 'now'>): Instant {
    return now ?? this.#parts.clock.now()
  }

  /** The next `limit` items of an answer to the query, which has more of them; `from` where its order is held. */
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

  /** A cursor may be read after the store was closed, and most answers have none. */
  #makeSecretFor({ cursor }: Answer): void {
    if (cursor !== null) this.secret()
  }

  /** What is held for whoever comes with the cursor of the query. */
  cachedFor(query: Query, { viewer }: CallContext): CachedPage | null {
    const { after } = query
    return after === null ? null : this.#held.find(placeOf(query, after), viewer.id, this.#parts.clock.now())
  }

  /** Where a stream keeps its order between pieces; null: it is not held there any more. */
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

  /** So that whoever comes with the cursor of this part goes on in its order. */
  holdRest({ answer: { cursor }, next, size }: Part, { viewer }: CallContext): void {
    if (cursor === null || next === null) return
    this.#held.hold(cursor.place, viewer.id, next, size, this.#parts.clock.now())
  }

  /** The answer as it is: looking on is no use. And what it takes to say when time alone may change it. */
  async standing(input: QueryInput, call: CallContext): Promise<WatchedAnswer> {
    const { stages, context } = await this.#prepare({ ...input, touch: false }, call)
    const answer = await runQuery(stages, context)
    const { asOf } = context.query
    const isOfThePast = input.as_of !== undefined
    return { answer, asOf, nextBound: isOfThePast ? Number.POSITIVE_INFINITY : this.#contexts.nextBound(context, asOf) }
  }

  /** What a question demands of entries, resolved as if it were asked at this moment. Throws what asking would. */
  conditions(input: QueryInput, at: Instant, call: CallContext): Pick<Plan, 'filter' | 'parsed'> {
    const { stages, context } = this.#prepareAtOnce(input, call)
    return stages.parse({ ...context.query, asOf: at }, context)
  }

  /** Changes no access state: asking why is not use. */
  async explain({ query, ...target }: ExplainRequest, call: CallContext): Promise<ExplainAnswer> {
    const { stages, context } = await this.#prepare({ ...query, touch: false }, call)
    const { explainEntry } = await import('../pipeline/explain.ts')
    return explainEntry(target, stages, context)
  }

  /** Counts without access state, as `explain`. */
  async count(input: QueryInput, call: CallContext): Promise<Count> {
    const { stages, context } = await this.#prepare({ ...input, touch: false }, call)
    const { countItems } = await import('../pipeline/survey.ts')
    return countItems(stages, context)
  }

  async similar({ id, limit, group }: SimilarInput, call: CallContext): Promise<Page> {
    const { requireVisible } = await import('./listing.ts')
    const { similarTo } = await import('../pipeline/similar.ts')
    const entry = requireVisible(this.#parts.store, id, this.look(call.viewer))
    // Its language chooses the model.
    const text = `${entry.title}\n${entry.content}`.slice(0, SAMPLE)
    const { stages, context } = await this.#prepare({ text, limit, group }, call)
    const answer = await runQuery(similarTo(entry, stages), context)
    if (context.query.touch) this.#touch(answer, call.viewer, context.query)
    // It takes no cursor: more of them are had by a higher limit.
    return { ...answer.page, cursor: null }
  }

  async #prepare(input: QueryInput, call: CallContext): Promise<Prepared> {
    // What is wrong with the question is said before anything is loaded for it.
    const now = this.#now(call)
    const query = this.#resolve(input, call.viewer, now)
    const made = await this.#load(query, now, call)
    return made === null ? this.#prepareAtOnce(input, call) : { stages: this.#stagesOf(query.lens), ...made }
  }

  /** With the words, unless nothing of the answer comes from them, and the points that the lens asks for first. */
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

  /** Once for an input and a moment: its caller checks it before anything is loaded for it. */
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

  /** Kept: zod compiles a schema when it first parses, a third of a millisecond. */
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

  /** Counts what was opened or cited. A store that cannot be written at the moment does not count it. */
  used(entries: readonly EntryKey[], viewer: Viewer): void {
    this.#count(() => this.#parts.uses.count(viewer, entries, this.#parts.clock.now()))
  }

  #touch(answer: Answer, viewer: Viewer, { lens, options }: Query): void {
    if (!this.#countsUse) return
    // Several passages of an entry are one use of it.
    const entries = [...new Set(answer.ranked.map(({ entry }) => entry))]
    if (entries.length === 0) return
    const { touch } = this.#parts.registry.must(lens)
    if (touch) this.#count(() => touch(this.#host(lens), viewer, entries, this.#parts.clock.now(), options))
    else this.used(entries, viewer)
  }

  /** One small transaction. A store that is read-only or on a full disk still answers; the use is then not counted. */
  #count(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!(error instanceof QuerentError && UNCOUNTED.includes(error.code))) throw error
    }
  }
}

/**
 * A question answered piece by piece: what a page of the same limit would hold, in its order, each piece checked against what
 * the viewer may see as it leaves. No transaction is open between pieces, and nothing is made before it is asked for.
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
  // Between pieces the order is held among those of pages: who reads slowly has no more room than others.
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

/** What pieces say beside their items: by the end all that a page of all of them would say. */
class Reports {
  readonly #said = new Set<string>()
  /** Not said in the first piece. */
  readonly #later: Note[] = []
  #isComplete = true

  /** `progress` null: it is the last one. */
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
