/** Asks: gives the pipeline what a question needs from this engine, and counts the use of what it shows. */
import { must } from '../base/assert.ts'
import { Deadline, type Instant } from '../base/clock.ts'
import { requesterOf } from '../identity/requester.ts'
import type { VectorIndex, WordIndex } from '../index/contract.ts'
import type { LensHost } from '../lenses/lens.ts'
import { QuerentError } from '../model/errors.ts'
import type { ExplainAnswer } from '../model/explain-answer.ts'
import { ENTRY_FIELDS, type FieldName, type Filter } from '../model/filter.ts'
import type { CallContext } from '../model/operation.ts'
import type { Note, Page } from '../model/page.ts'
import type { Query } from '../model/query.ts'
import type { QueryInput } from '../model/query-input.ts'
import { isOwner, type Sight, type Viewer } from '../model/viewer.ts'
import { Sights } from '../pipeline/access.ts'
import type { QueryContext } from '../pipeline/context.ts'
import { explainEntry } from '../pipeline/explain.ts'
import { HeldOrders, type HeldPage } from '../pipeline/held-orders.ts'
import { Memo } from '../pipeline/memo.ts'
import { resolveQuery } from '../pipeline/resolve-query.ts'
import { type Part, runPart, runQuery } from '../pipeline/run.ts'
import { similarTo } from '../pipeline/similar.ts'
import type { Answer, Stages } from '../pipeline/stage.ts'
import { Trace } from '../pipeline/trace.ts'
import type { ExplainRequest } from './engine.ts'
import { mustSee } from './entries.ts'
import type { Parts } from './parts.ts'
import { storeSecret } from './secret.ts'

const UNCOUNTED: readonly string[] = ['store_locked', 'store_readonly', 'io_failed']

export interface Standing {
  readonly answer: Answer
  readonly asOf: Instant
  /** When something that is visible next begins or ceases to hold; infinite: never. */
  readonly nextBound: Instant
}

export interface HeldPlace {
  hold(part: Part): void
  find(): HeldPage | null
  release(): void
}

interface Prepared {
  readonly stages: Stages
  readonly context: QueryContext
  /** The caller has the answer. */
  readonly release: () => void
}

export class Asking {
  readonly #parts: Parts
  readonly #sights: Sights
  readonly #memo = new Memo()
  readonly #held = new HeldOrders(requesterOf)
  readonly #fields: readonly FieldName[]
  readonly #stages = new Map<string, Stages>()
  readonly #host: (lens: string) => LensHost
  #secret: string | null = null
  #streams = 0

  constructor(parts: Parts, host: (lens: string) => LensHost) {
    this.#parts = parts
    this.#host = host
    this.#sights = new Sights(parts.store)
    parts.indexes.beforeChange(() => this.#held.settle())
    this.#fields = [...ENTRY_FIELDS, ...aspectFields(parts)]
  }

  look(viewer: Viewer): Sight {
    return this.#sights.look(viewer)
  }

  async query(input: QueryInput, call: CallContext): Promise<Page> {
    const { stages, context, release } = this.#prepare(input, call)
    try {
      const answer = await runQuery(stages, context, this.#held)
      if (context.query.touch) this.#touch(answer, call.viewer, context.query.lens)
      return answer.page
    } finally {
      release()
    }
  }

  /** What a stream asks for piece by piece. Throws what asking would. */
  resolve(input: QueryInput, { viewer }: CallContext): Query {
    const { clock, defaultLens } = this.#parts
    return resolveQuery(input, { viewer, now: clock.now(), secret: this.#sign(), defaultLens })
  }

  /** The next `limit` items of an answer to the query, which has more of them; `from` where its order is held. */
  async part(query: Query, from: HeldPage | null, limit: number, call: CallContext): Promise<Part> {
    const { context, release } = this.#context(query, this.#parts.clock.now(), call)
    try {
      const part = await runPart(this.#stagesOf(query.lens), context, { held: this.#held, from, limit })
      if (query.touch) this.#touch(part.answer, call.viewer, query.lens)
      return part
    } finally {
      release()
    }
  }

  /** What is held for whoever comes with the cursor of the query. */
  heldFor({ cursor }: Query, { viewer }: CallContext): HeldPage | null {
    return cursor === null ? null : this.#held.find(cursor, viewer.id, this.#parts.clock.now())
  }

  /** Where a stream keeps its order between pieces; null: it is not held there any more. */
  place({ viewer }: CallContext): HeldPlace {
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
  holdRest({ answer: { page }, next, size }: Part, { viewer }: CallContext): void {
    if (page.cursor === null || next === null) return
    this.#held.hold(page.cursor, viewer.id, next, size, this.#parts.clock.now())
  }

  /** The answer as it stands: looking on is no use. And what it takes to say when time alone may change it. */
  async standing(input: QueryInput, call: CallContext): Promise<Standing> {
    const { stages, context } = this.#prepare({ ...input, touch: false }, call)
    const answer = await runQuery(stages, context)
    const { asOf } = context.query
    const nextBound =
      input.as_of === undefined ? this.#memo.nextBound(context.reader, context.sight, asOf) : Number.POSITIVE_INFINITY
    return { answer, asOf, nextBound }
  }

  /** What a question demands of entries, resolved as if it were asked at this moment. Throws what asking would. */
  conditions(input: QueryInput, at: Instant, call: CallContext): Filter | null {
    const { stages, context } = this.#prepare(input, call)
    return stages.parse({ ...context.query, asOf: at }, context).filter
  }

  /** What seals and signs for this store. */
  secret(): string {
    return this.#sign()
  }

  /** Changes no access state: asking why is not use. */
  async explain({ query, id, over }: ExplainRequest, call: CallContext): Promise<ExplainAnswer> {
    const { stages, context } = this.#prepare({ ...query, touch: false }, call)
    return explainEntry({ id, over }, stages, context)
  }

  async similar({ id, limit }: { id: string; limit?: number | undefined }, call: CallContext): Promise<Page> {
    const entry = mustSee(this.#parts.store, id, this.look(call.viewer))
    // The id stands for the text, so that a cursor of one entry's page is no cursor of another's.
    const { stages, context } = this.#prepare({ text: id, ...(limit === undefined ? {} : { limit }) }, call)
    const answer = await runQuery(similarTo(entry, stages), context)
    this.#touch(answer, call.viewer, context.query.lens)
    // It takes no cursor: more of them are had by a higher limit.
    return { ...answer.page, cursor: null }
  }

  #prepare(input: QueryInput, call: CallContext): Prepared {
    const { clock, defaultLens } = this.#parts
    const now = clock.now()
    const query = resolveQuery(input, { viewer: call.viewer, now, secret: this.#sign(), defaultLens })
    return { stages: this.#stagesOf(query.lens), ...this.#context(query, now, call) }
  }

  #stagesOf(lens: string): Stages {
    const stages = this.#stages.get(lens) ?? this.#parts.registry.stages(lens, this.#host)
    this.#stages.set(lens, stages)
    return stages
  }

  /** What is held for later pages holds the context, which then must not hold the caller: hence `release`. */
  #context(query: Query, now: number, call: CallContext): Omit<Prepared, 'stages'> {
    const { store, indexes, embedder } = this.#parts
    indexes.refresh()
    const { viewer } = call
    const notes: Note[] = []
    let caller: CallContext | null = call
    let deadline = new Deadline(query.timeoutMs, call.signal)
    let sight = this.look(viewer)
    const vectors = indexes.names.find(name => name.startsWith('vectors-'))
    // An index that is not loaded yet is read or built first, which no question can hurry: its time begins then.
    const index = (name: string) => deadline.without(() => indexes.get(name))
    const context: QueryContext = {
      query,
      get sight() {
        return sight
      },
      now,
      get deadline() {
        return deadline
      },
      reader: store,
      words: index('words') as WordIndex,
      get vectors() {
        return vectors === undefined ? null : (index(vectors) as VectorIndex)
      },
      model: embedder?.model ?? null,
      fields: this.#fields,
      secret: this.#sign(),
      memo: this.#memo,
      index,
      embed: async text => {
        const vector = await this.#embed(text, must(caller, 'the caller of a question'), notes)
        // Others may have written meanwhile; what follows runs on one state.
        deadline.without(() => indexes.refresh())
        sight = this.look(viewer)
        return vector
      },
      look: () => this.look(viewer),
      note: note => notes.push(note),
      notes,
      trace: new Trace(),
    }
    const release = () => {
      caller = null
      deadline = new Deadline(Number.POSITIVE_INFINITY)
    }
    return { context, release }
  }

  async #embed(text: string, call: CallContext, notes: Note[]): Promise<Float32Array | null> {
    const { embedder, embedderError } = this.#parts
    if (embedder === null) {
      if (embedderError !== null) notes.push({ code: 'words_only', message: wordsOnly(embedderError, call.viewer) })
      return null
    }
    const asked = embedder.embed([text], 'query', call.signal)
    this.#loadMeanwhile(asked)
    try {
      const [vector] = await asked
      return vector ?? null
    } catch (error) {
      if (error instanceof QuerentError && error.code === 'cancelled') throw error
      const reason = error instanceof Error ? error.message : String(error)
      notes.push({ code: 'words_only', message: wordsOnly(reason, call.viewer) })
      return null
    }
  }

  /** The model runs in a thread of its own: this one can load what its answer is needed for. */
  #loadMeanwhile(asked: Promise<unknown>): void {
    const { warm, indexes } = this.#parts
    if (!warm) return
    asked.catch(() => {}) // told where it is waited for, unless loading fails first
    for (const name of indexes.names) if (name.startsWith('vectors-')) indexes.get(name)
  }

  /** One small transaction. A store that is read-only or on a full disk still answers; the use is then not counted. */
  #touch({ entries }: Answer, viewer: Viewer, lens: string): void {
    if (entries.length === 0) return
    const { uses, clock, registry } = this.#parts
    const { touch } = registry.must(lens)
    try {
      if (touch) touch(this.#host(lens), viewer, entries, clock.now())
      else uses.count(viewer, entries, clock.now())
    } catch (error) {
      if (!(error instanceof QuerentError && UNCOUNTED.includes(error.code))) throw error
    }
  }

  #sign(): string {
    this.#secret ??= storeSecret(this.#parts.store, this.#parts.random)
    return this.#secret
  }
}

/** Why names files and addresses of this machine, which are the owner's. */
function wordsOnly(reason: string, viewer: Viewer): string {
  return `Words only: ${isOwner(viewer) ? reason : 'there is no embedder at the moment.'}`
}

function aspectFields({ tables }: Parts): readonly FieldName[] {
  return tables.flatMap(table =>
    table.aspect === undefined
      ? []
      : table.columns
          .filter(({ name, unasked }) => name !== 'entry' && !unasked)
          .map(column => `${table.aspect}.${column.name}`),
  )
}
