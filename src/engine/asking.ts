/** Asks: gives the pipeline what a question needs from this engine, and counts the use of what it shows. */

import { z } from 'zod'
import type { Instant } from '../base/clock.ts'
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
import type { QueryContext } from '../pipeline/context.ts'
import { resolveQuery } from '../pipeline/resolve-query.ts'
import { beginAnswer, continueAnswer, type Part, runQuery } from '../pipeline/run.ts'
import type { Answer, Plan, Stages } from '../pipeline/stage.ts'
import type { Store } from '../store/store.ts'
import { indexesOf } from './index-makers.ts'
import type { Parts } from './parts.ts'
import { QuestionContexts } from './question-contexts.ts'

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

interface Prepared {
  readonly stages: Stages
  readonly context: QueryContext
}

export class Asking {
  readonly #parts: Parts
  readonly #contexts: QuestionContexts
  readonly #stages = new Map<string, Stages>()
  readonly #host: (lens: string) => LensHost
  readonly #options = new Map<string, OptionsSchema>()
  /** By the store in memory that is asked in place of the engine's. */
  readonly #others = new WeakMap<Scratch, Asking>()
  readonly #resolved = new WeakMap<QueryInput, { readonly viewer: string; readonly query: Query }>()
  readonly #countsUse: boolean

  /** `of`: the one of the engine's store, where `parts` are those of another store in its place. */
  constructor(parts: Parts, host: (lens: string) => LensHost, of: Asking | null = null) {
    this.#parts = parts
    this.#host = host
    this.#countsUse = of === null
    this.#contexts = new QuestionContexts(parts, of === null ? null : () => of.secret())
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
    const { stages, context } = await this.#prepare(input, call)
    const answer = await runQuery(stages, context)
    if (context.query.touch) this.#touch(answer, call.viewer, context.query)
    return answer
  }

  /** What a stream asks for piece by piece. Throws what asking would. */
  resolve(input: QueryInput, call: Pick<CallContext, 'viewer' | 'now'>): Query {
    return this.#resolve(input, call.viewer, this.#now(call))
  }

  #now({ now }: Pick<CallContext, 'now'>): Instant {
    return now ?? this.#parts.clock.now()
  }

  /** The next `limit` items of an answer to the query: its first, or those behind `before`, where the query goes on. */
  async part(query: Query, before: Part | null, limit: number, call: CallContext): Promise<Part> {
    const now = () => this.#parts.clock.now()
    const context = (await this.#load(query, now(), call)) ?? this.#contexts.make(query, now(), call)
    const stages = this.#stagesOf(query.lens)
    const part = await (before === null
      ? beginAnswer(stages, context, limit)
      : continueAnswer(before, stages, context, limit))
    if (query.touch) this.#touch(part.answer, call.viewer, query)
    return part
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
    // The id stands for the text, so that a cursor of one entry's page is no cursor of another's.
    const { stages, context } = await this.#prepare({ text: id, limit, group }, call)
    const answer = await runQuery(similarTo(entry, stages), context)
    if (context.query.touch) this.#touch(answer, call.viewer, context.query)
    // It takes no cursor: more of them are had by a higher limit.
    return { ...answer.page, cursor: null }
  }

  async #prepare(input: QueryInput, call: CallContext): Promise<Prepared> {
    // What is wrong with the question is said before anything is loaded for it.
    const now = this.#now(call)
    const query = this.#resolve(input, call.viewer, now)
    const context = await this.#load(query, now, call)
    return context === null ? this.#prepareAtOnce(input, call) : { stages: this.#stagesOf(query.lens), context }
  }

  /** With the words, unless nothing of the answer comes from them, and the points that the lens asks for first. */
  #load(query: Query, now: Instant, call: CallContext): Promise<QueryContext | null> {
    const { pointIndexes = [], readsWords = true } = this.#parts.registry.must(query.lens)
    const words = readsWords || call.rows !== 'keys' ? ['words'] : []
    return this.#contexts.load(query, [...words, ...pointIndexes.map(({ name }) => name)], now, call)
  }

  #prepareAtOnce(input: QueryInput, call: CallContext): Prepared {
    const now = this.#now(call)
    const query = this.#resolve(input, call.viewer, now)
    return { stages: this.#stagesOf(query.lens), context: this.#contexts.make(query, now, call) }
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
    const asked = { viewer, now, secret: this.secret(), defaultLens, countsListing, optionsOf, fields }
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
 * the viewer may see as it leaves. No transaction is open between pieces, and no item is made before it is asked for.
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
  const reports = new Reports()
  let part: Part | null = null
  for (let shown = 0; ; ) {
    const isFirst: boolean = part === null
    part = await asking.part(query, part, Math.min(chunk_size, limit - shown), call)
    const { page, end, isLast } = part.answer
    shown += page.items.length
    const isEnd: boolean = isLast || shown >= limit
    yield reports.chunkOf(page, isFirst, isEnd ? null : shown / limit)
    if (isEnd) return
    query = { ...query, after: end, cursor: null }
  }
}

/** What pieces say beside their items: by the end all that a page of all of them would say. */
class Reports {
  readonly #said = new Set<string>()
  /** Not said in the first piece. */
  readonly #later: Note[] = []
  #isComplete = true

  /** `progress` null: it is the last one. */
  chunkOf(page: Page, isFirst: boolean, progress: number | null): PageChunk {
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
