/** Builds the context object of a query: the parts of this engine that the query pipeline needs, in their state at that moment. */

import { must } from '../base/assert.ts'
import { Deadline, type Instant } from '../base/clock.ts'
import { type Steps, Turns } from '../base/turns.ts'
import { type Embedder, type EmbeddingModel, modelKey } from '../embed/embedder.ts'
import { isEnglishWord } from '../embed/open-embedder.ts'
import { type VectorIndex, type VectorSearcher, vectorsName, type WordIndex } from '../index/contract.ts'
import { joinSpaces, quantileMap } from '../index/vectors/spaces.ts'
import { clampCosine, jointVector } from '../math/vector.ts'
import { QuerentError } from '../model/errors.ts'
import { ENTRY_FIELDS, type FieldName, LINKED } from '../model/filter.ts'
import type { CallContext } from '../model/operation.ts'
import type { Note } from '../model/page.ts'
import type { Query } from '../model/query.ts'
import type { ReadingTable } from '../model/table.ts'
import { type AccessScope, isOwner, type Viewer } from '../model/viewer.ts'
import { AccessScopes } from '../pipeline/access.ts'
import type { QueryContext } from '../pipeline/context.ts'
import { foreignEntries, foreignLanguage, knowsLanguage } from '../pipeline/languages.ts'
import { Memo } from '../pipeline/memo.ts'
import { assertNotCancelled, turnsUntil } from '../pipeline/time-limit.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import type { Parts } from './parts.ts'

export interface MadeContext {
  readonly context: QueryContext
  /**
   * Called when the caller has received the answer: drops the context's references to the caller, because cached results for later pages
   * keep the context in memory.
   */
  readonly release: () => void
}

export class QuestionContexts {
  readonly #parts: Parts
  readonly #accessScopes: AccessScopes
  readonly #memo = new Memo()
  /** Names of the fields that a query's filter may use. */
  readonly fields: readonly FieldName[]
  readonly #readings: readonly ReadingTable[]
  readonly #makeSecret: () => string
  #secret: string | null = null

  /**
   * `secret`: function that returns the key with which cursors are sealed. A temporary store passes the function for the key of the
   * engine's own store; null: the key of this store is used.
   */
  constructor(parts: Parts, secret: (() => string) | null) {
    this.#parts = parts
    this.#makeSecret = secret ?? (() => storeSecret(parts.store, parts.random))
    this.#accessScopes = new AccessScopes(parts.store)
    this.fields = queryFields(parts)
    this.#readings = parts.tables.filter((table): table is ReadingTable => table.readOf !== undefined)
  }

  look(viewer: Viewer): AccessScope {
    return this.#accessScopes.look(viewer)
  }

  /** The secret key with which cursors and other texts of this store are sealed and signed. */
  secret(): string {
    this.#secret ??= this.#makeSecret()
    return this.#secret
  }

  /** Next instant after `asOf` at which the validity period of an entry visible to the viewer begins or ends; infinite: there is none. */
  nextBound({ reader, accessScope }: QueryContext, asOf: Instant): Instant {
    return this.#memo.nextBound(reader, accessScope, asOf)
  }

  /**
   * Returns the context of a query if the named indexes are loaded and up to date. Otherwise loads them with pauses and returns null; the
   * caller must then resolve the query again for a new start time. Concurrent calls share the loading. Rejects with `cancelled`.
   */
  async load(query: Query, names: readonly string[], now: Instant, call: CallContext): Promise<MadeContext | null> {
    const turns = turnsUntil(call.signal)
    // Pauses now if a pause is due: later, during the query, a pause would first have to save results that other tasks may change.
    const isLate = await turns.pauseIfDue()
    const steps = this.#loading(names)
    const made = this.#parts.store.read(() => {
      const isLoaded = steps.next(false).done === true
      return isLoaded && !isLate ? this.#make(query, now, call) : null
    })
    if (made === null) await turns.run(steps)
    return made
  }

  *#loading(names: readonly string[]): Steps<void> {
    const { store, indexes } = this.#parts
    yield* indexes.getInSteps(...names)
    yield* this.#memo.followInSteps(store)
  }

  /** Makes the context of a query without a pause; indexes that are not loaded yet are loaded at once. */
  make(query: Query, now: Instant, call: CallContext): MadeContext {
    return this.#parts.store.read(() => this.#make(query, now, call))
  }

  #make(query: Query, now: Instant, call: CallContext): MadeContext {
    const { store, indexes, files } = this.#parts
    indexes.refresh()
    const { viewer } = call
    const notes: Note[] = [...files.notesFor(viewer)]
    let caller: CallContext | null = call
    let deadline = new Deadline(query.timeoutMs, call.signal)
    let accessScope = this.look(viewer)
    // The time for loading or building an index is not counted against the query's deadline.
    const index = (name: string) => deadline.without(() => indexes.get(name))
    let words: WordIndex | null = null
    const space = this.#spaceOf(query)
    const context: QueryContext = {
      query,
      get accessScope() {
        return accessScope
      },
      now,
      rows: call.rows,
      get deadline() {
        return deadline
      },
      turns: new Turns(() => assertNotCancelled(context)),
      reader: store,
      get words() {
        words ??= index('words') as WordIndex
        return words
      },
      get vectors() {
        return deadline.without(space.vectors)
      },
      model: space.model,
      languages: space.languages,
      second: space.second,
      fields: this.fields,
      readings: this.#readings,
      secret: () => this.secret(),
      isWord: isEnglishWord,
      memo: this.#memo,
      index,
      embed: async (text, late) => {
        const requester = must(caller, 'the caller of a question')
        const signal = late === undefined ? requester.signal : AbortSignal.any([requester.signal, late])
        const vector = await this.#embed(text, space, { ...requester, signal }, notes)
        // Other processes may have written while the text was being embedded, so the indexes are updated; the rest of the query runs on one
        // state of the store.
        const names = vector === null ? [] : space.names
        await deadline.withoutWaiting(() => context.turns.run(indexes.getInSteps(...names)))
        accessScope = this.look(viewer)
        return vector
      },
      look: () => this.look(viewer),
      // A note with the same code and message is kept once, because a query that is retried with corrected spelling gives its notes again.
      note: note => {
        const { code, message } = note
        if (!notes.some(known => known.code === code && known.message === message)) notes.push(note)
      },
      notes,
      trace: [],
    }
    const release = () => {
      caller = null
      deadline = new Deadline(Number.POSITIVE_INFINITY)
    }
    return { context, release }
  }

  /**
   * Chooses the embedding models that a query is compared with: the main model; the second model alone for a query in a language that only
   * the second knows; or both, if the store has texts in such languages. Lenses without knowledge of languages use the main model alone.
   */
  #spaceOf({ lens, text }: Query): Space {
    const { models, indexes, store, registry } = this.#parts
    const { knowsLanguages = false } = registry.must(lens)
    // The models are read only once here, because another task may replace a model at any time, and the vector of a query must come from
    // the same model as the vectors of the index that is searched.
    const [embedder, multilingual] =
      this.#parts.embedder === null ? [null, null] : [models.main?.current ?? null, models.second]
    const nameOf = ({ model }: Embedder) => vectorsName(modelKey(model))
    const oneOf = (only: Embedder | null): Space => ({
      ...{ model: only?.model ?? null, embedders: only === null ? [] : [only] },
      names: only === null ? [] : [nameOf(only)],
      languages: knowsLanguages ? only?.model.languages : undefined,
      vectors: () => (only === null ? null : (indexes.get(nameOf(only)) as VectorIndex)),
    })
    if (embedder === null || multilingual === null || !knowsLanguages) return oneOf(embedder)
    const language = foreignLanguage(text)
    if (language !== null && !knowsLanguage(embedder.model, language) && knowsLanguage(multilingual.model, language)) {
      return oneOf(multilingual)
    }
    const { model } = embedder
    const known = [model.languages, multilingual.model.languages]
    const languages = known.some(({ length }) => length === 0) ? [] : known.flat()
    if (!models.hasForeign) return { ...oneOf(embedder), languages }
    const of = { memo: this.#memo, reader: store }
    const { toMain, toSecond } = scalesOf(model, multilingual.model)
    return {
      ...{ model, embedders: [embedder, multilingual], names: [nameOf(embedder), nameOf(multilingual)] },
      languages,
      second: { model: multilingual.model, cosineOf: toSecond },
      vectors: () =>
        joinSpaces({
          main: indexes.get(nameOf(embedder)) as VectorIndex,
          second: indexes.get(nameOf(multilingual)) as VectorIndex,
          foreign: entries => foreignEntries(entries, model, of),
          toMain,
        }),
    }
  }

  /**
   * The query's vector from the main model; if the second model is used too, its vector is appended. If the second model fails, the main
   * one answers alone.
   */
  async #embed(
    text: string,
    { embedders: [main, second], names }: Space,
    call: CallContext,
    notes: Note[],
  ): Promise<Float32Array | null> {
    const { embedderError } = this.#parts
    if (main === undefined) {
      if (embedderError !== null) notes.push(wordsOnly(embedderError, call.viewer))
      return null
    }
    const asked = [main, second].map(one => one?.embed([text], 'query', call.signal))
    this.#loadMeanwhile(names)
    const [first, other] = await Promise.allSettled(asked)
    for (const one of [first, other]) {
      if (one?.status !== 'rejected') continue
      const { reason } = one
      if (reason instanceof QuerentError && reason.code === 'cancelled') throw reason
      const message = reason instanceof Error ? reason.message : String(reason)
      notes.push(one === first ? wordsOnly(message, call.viewer) : oneModel(message, call.viewer))
    }
    const [mine, its] = [first, other].map(one => (one?.status === 'fulfilled' ? one.value?.[0] : undefined))
    if (mine === undefined || its === undefined) return mine ?? null
    return jointVector(mine, its)
  }

  /**
   * Loads the vector indexes while the embedding model, which runs in its own thread, embeds the query. An error is ignored, because it
   * occurs again when the index is used.
   */
  #loadMeanwhile(names: readonly string[]): void {
    const { warm, indexes } = this.#parts
    if (warm) new Turns().run(indexes.getInSteps(...names)).catch(() => undefined)
  }
}

/** The embedding models and the vector index with which a query's meaning is compared with entries. */
interface Space {
  /** The embedding model whose cosine scale the scores have, and whose calibration decides the verdict; null: no embedder. */
  readonly model: EmbeddingModel | null
  /** The embedders that embed the query: none, one, or two whose vectors are concatenated. */
  readonly embedders: readonly Embedder[]
  /** Names of the vector indexes that the query needs. */
  readonly names: readonly string[]
  /** Languages that the embedders know, as ISO 639-1 codes; empty means many. Undefined: the query's lens takes no account of languages. */
  readonly languages: readonly string[] | undefined
  /**
   * The second embedding model, for languages that the main model does not know, with functions that convert cosines between the scales of
   * the two models. Absent: only one model is used.
   */
  readonly second?: QueryContext['second']
  readonly vectors: () => VectorSearcher | null
}

/**
 * Converts a cosine of one embedding model to the scale of the other: `toMain` from the second model to the main one, `toSecond` the
 * reverse.
 */
interface Scales {
  readonly toMain: (cosine: number) => number
  readonly toSecond: (cosine: number) => number
}

/**
 * Maps cosines between two embedding models so that equal quantiles of the cosines of unrelated texts correspond. If a model has no
 * measured quantiles, they are estimated from the models' `cosineScale`.
 */
function scalesOf(main: EmbeddingModel, second: EmbeddingModel): Scales {
  const factor = second.cosineScale / main.cosineScale
  const its =
    second.languagePairs?.unrelated.across ??
    [-MAX_UNRELATED, MAX_UNRELATED].map(cosine => clampCosine(cosine / factor))
  const mine = main.languagePairs?.unrelated.same ?? its.map(cosine => clampCosine(cosine * factor))
  return { toMain: quantileMap(its, mine), toSecond: quantileMap(mine, its) }
}

/**
 * Cosine beyond which few unrelated texts lie on the scale of the MiniLM model; used to estimate quantiles of a model without measured
 * ones.
 */
const MAX_UNRELATED = 0.5

/**
 * The note on an answer that was found by words only. The reason contains file names and addresses of this machine, so viewers other than
 * the owner get a general text.
 */
function wordsOnly(reason: string, viewer: Viewer): Note {
  const shown = isOwner(viewer) ? reason : 'there is no embedder at the moment.'
  return { code: 'words_only', message: `Words only: ${shown}` }
}

function oneModel(reason: string, viewer: Viewer): Note {
  const shown = isOwner(viewer) ? `: ${reason}` : '.'
  return { code: 'one_model', message: `The model for other languages does not answer${shown}` }
}

/** Names of all fields that a query may use: those of entries, and columns that lenses add to entries. */
export function queryFields({ tables }: Pick<Parts, 'tables'>): readonly FieldName[] {
  const ofAspects = tables.flatMap(table =>
    table.aspect === undefined
      ? []
      : table.columns
          .filter(({ name, unasked }) => name !== 'entry' && !unasked)
          .map(column => `${table.aspect}.${column.name}`),
  )
  return [...ENTRY_FIELDS, LINKED, ...ofAspects]
}

/**
 * Name under which the store keeps the secret key that seals cursors. The key is created once for a store, so every process on the store
 * accepts the cursors of the others.
 */
const NAME = 'cursor_secret'
/** Milliseconds that a query waits for writers of other processes when it has to store a newly created secret. */
const WAIT_MS = 50
/** Secrets of stores that cannot be written at the moment; each lasts as long as this process. */
const unsaved = new WeakMap<Store, string>()

export function storeSecret(store: Store, random: (bytes: number) => Uint8Array): string {
  const kept = secretIn(store) ?? unsaved.get(store)
  if (kept !== undefined) return kept
  const made = Buffer.from(random(32)).toString('base64url')
  try {
    return store.write(0, writer => keep(writer, made), WAIT_MS)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    unsaved.set(store, made)
    return made
  }
}

/** Stores a newly created secret and returns it; if another process has stored one first, returns that one. */
function keep(writer: StoreWriter, made: string): string {
  const other = secretIn(writer)
  if (other === undefined) writer.setMeta(NAME, made)
  return other ?? made
}

/**
 * A secret that cannot be read because of damage counts as missing and is replaced: earlier cursors become invalid, but nothing else is
 * lost.
 */
function secretIn(reader: StoreReader): string | undefined {
  try {
    return reader.meta(NAME)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return undefined
    throw error
  }
}
