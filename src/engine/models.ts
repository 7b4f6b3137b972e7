/**
 * The embedding models of an engine: the one that answers queries, the target that will replace it after a change of model, and a second
 * one for other languages. The store records for which model its vectors are complete. Until the target has embedded all texts, the
 * previous model answers with its vectors; then these are removed. A change that was interrupted continues when the store is next opened.
 */
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { canonicalJson, type JsonObject } from '../base/canonical.ts'
import { type Embedder, type EmbeddingModel, type EmbedKind, type LocalRun, modelKey } from '../embed/embedder.ts'
import {
  type EmbedderSettings,
  embedderSettings,
  PACKAGED_MODEL_FOLDER,
  SECOND_MODEL_FOLDER,
} from '../embed/open-embedder.ts'
import { type Index, vectorsName } from '../index/contract.ts'
import { invalidArgument, QuerentError } from '../model/errors.ts'
import type { ModelCheck, ModelList, ModelState, UsedModel, UseModelInput } from '../model/reports.ts'
import { knowsLanguage } from '../pipeline/languages.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'
import { shownLanguage } from '../text/language.ts'
import type { Embedding } from './background/background.ts'
import { startEmbedder, startSecond } from './embedder.ts'
import type { IndexSet } from './index-set.ts'
import { readSettings, writeSettings } from './options.ts'

/**
 * The embedder that answers queries at present; it may be replaced by another at any time. Code that embeds a text and then searches must
 * read `current` once and use the same embedder for both.
 */
export class ServingEmbedder implements Embedder {
  #current: Embedder

  constructor(current: Embedder) {
    this.#current = current
  }

  get current(): Embedder {
    return this.#current
  }

  get model(): EmbeddingModel {
    return this.#current.model
  }

  get runsOn(): (() => LocalRun) | undefined {
    return this.#current.runsOn
  }

  embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal): Promise<readonly Float32Array[]> {
    return this.#current.embed(texts, kind, signal)
  }

  close(): Promise<void> {
    return this.#current.close()
  }

  serve(next: Embedder): void {
    this.#current = next
  }
}

/** The record, kept in the store for all of its processes, of the model for which every chunk has a vector. */
interface Recorded {
  readonly model: string
  /** Settings with which the model is opened again; null: the calling program passed an embedder object, which cannot be opened again. */
  readonly settings: EmbedderSettings | null
  /** Key of the second model, for languages that the first does not know; null: there is no second model. */
  readonly second: string | null
  /** Keys of earlier models whose vectors are being removed from the store. */
  readonly removing: readonly string[]
}

const NAME = 'model'
/**
 * Name of a value in the store's metadata that exists once the second model has embedded a text in a language that the first model does not
 * know.
 */
const FOREIGN = 'foreign_texts'
const recordSchema = z.object({
  model: z.string(),
  settings: embedderSettings.nullable(),
  second: z.string().nullable(),
  removing: z.array(z.string()),
})

/** Number of vectors that are removed from the store in one transaction, which takes some milliseconds. */
const REMOVED_AT_ONCE = 2_000

export interface ModelsInput {
  readonly store: Store
  readonly now: () => number
  /**
   * Path of the home (the folder with the store and its settings). Null: there is no home, so the model cannot be changed while the engine
   * is open.
   */
  readonly home: string | null
  /** Settings of the configured model; null: the calling program passed an embedder object, so there are no settings. */
  readonly settings: EmbedderSettings | null
  /** Whether the environment or the calling program names the model, so that a model set in `config.json` has no effect. */
  readonly isFixed: boolean
  readonly target: Embedder | null
  readonly second: Embedder | null
  /** Time limit in milliseconds for opening an embedder that calls a provider. */
  readonly embedderTimeoutMs: number | undefined
}

/** Parts of the engine that are needed to change the embedding model while the engine is open. */
interface Surroundings {
  readonly indexes: IndexSet
  readonly embedding: Embedding | null
  readonly makeIndex: (embedder: Embedder) => Index
}

export class Models {
  readonly #input: ModelsInput
  /** The embedder that answers queries; null: queries are answered by word search only. */
  readonly main: ServingEmbedder | null
  #target: Embedder | null
  #second: Embedder | null
  #settings: EmbedderSettings | null
  readonly #recordedAtOpen: string | undefined
  readonly #opened = new Set<Embedder>()
  #isFinished = false
  #hasForeign = false
  #around: Surroundings | null = null

  /**
   * `before`: the earlier embedding model, which answers queries until the newly configured model (the target) has embedded all texts;
   * null: the target answers queries at once.
   */
  private constructor(input: ModelsInput, recorded: Recorded | null, before: Embedder | null) {
    const { target, second, settings } = input
    this.#input = input
    this.#target = target
    this.#second = second
    this.#settings = settings
    this.main = target === null ? null : new ServingEmbedder(before ?? target)
    for (const one of [target, second, before]) if (one !== null) this.#opened.add(one)
    this.#recordedAtOpen = recorded?.model
  }

  static async open(input: ModelsInput): Promise<Models> {
    // Without a configured model nothing is embedded, so the record in the store is not read.
    const recorded = input.target === null ? null : recordedIn(input.store)
    return new Models(input, recorded, await modelBefore(input, recorded))
  }

  /** The second model, for texts and queries in languages that the first model does not know; null: there is none. */
  get second(): Embedder | null {
    return this.#second
  }

  /** The models for which every chunk in the store should have a vector: the configured one and the second one, if there is one. */
  get targets(): readonly Embedder[] {
    return [this.#target, this.#second].filter(one => one !== null)
  }

  /** The models that answer queries now, or will after a change of model in progress; each has a vector index. */
  get all(): readonly Embedder[] {
    return [...new Set([this.main?.current ?? null, ...this.targets])].filter(one => one !== null)
  }

  /**
   * Whether another process has changed the recorded model since this process opened the store; if so, the other process does the
   * embedding.
   */
  get isOverruled(): boolean {
    const recorded = recordedIn(this.#input.store)?.model
    const own = this.#target === null ? undefined : modelKey(this.#target.model)
    return recorded !== undefined && recorded !== this.#recordedAtOpen && recorded !== own
  }

  lend(around: Surroundings): void {
    this.#around = around
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened].map(one => one.close()))
  }

  /** Whether the store has a text in a language that the first model does not know. If not, no query need be embedded by both models. */
  get hasForeign(): boolean {
    this.#hasForeign ||= this.#input.store.meta(FOREIGN) !== undefined
    return this.#hasForeign
  }

  embedding(writer: StoreWriter, embedder: Embedder, texts: readonly string[]): void {
    const model = this.#target?.model
    if (embedder !== this.#second || model === undefined || this.hasForeign) return
    const isForeign = texts.map(shownLanguage).some(of => of !== null && !knowsLanguage(model, of))
    if (isForeign) writer.setMeta(FOREIGN, 'true')
  }

  /**
   * Called when every chunk has a vector of the target model: from now on the target answers queries, and the vectors of earlier models are
   * removed from the store.
   */
  async finish(): Promise<void> {
    const { store } = this.#input
    const target = this.#target
    if (this.#isFinished || target === null || this.main === null) return
    const model = modelKey(target.model)
    if (store.countVectors(model, partitionsOf(store)) === 0) return
    const before = this.main.current
    this.main.serve(target)
    const second = this.#second === null ? null : modelKey(this.#second.model)
    const recorded = recordedIn(store)
    const replaced = [recorded?.model, recorded?.second, ...(recorded?.removing ?? [])]
    const removing = [...new Set(replaced)].filter(one => one != null && one !== model && one !== second) as string[]
    await this.#record({ model, settings: this.#settings, second, removing })
    for (const one of removing) await this.#removeVectors(one)
    if (removing.length > 0) await this.#record({ model, settings: this.#settings, second, removing: [] })
    if (before !== target) this.#around?.indexes.remove(vectorsName(modelKey(before.model)))
    this.#isFinished = true
  }

  /** The models that answer queries now, or will after a change of model in progress, with the progress of each in embedding the store. */
  list(): ModelList {
    const { store } = this.#input
    const ids = partitionsOf(store)
    const [chunks, left] = [store.countChunks(ids), this.#around?.embedding?.left() ?? null]
    const models = this.all.map((embedder): ModelState => {
      const { id, dimensions, languages } = embedder.model
      const vectors = store.countVectors(modelKey(embedder.model), ids)
      const role = embedder === this.#second ? 'other_languages' : embedder === this.main?.current ? 'answers' : 'next'
      const seconds = vectors < chunks && left !== null ? left.seconds : null
      return { id, dimensions, languages, role, vectors, chunks, seconds_left: seconds }
    })
    return { models }
  }

  /** Tests a model, given by `built-in`, `multilingual` or its folder (absolute, or relative to the home). */
  async check(folder: string): Promise<ModelCheck> {
    const { checkModel } = await import('./check-model.ts')
    return checkModel(this.#folderOf(folder))
  }

  /** Tests a model, writes it to `config.json` as the model of the home, and begins to embed the store's texts with it. */
  async use({ folder: given, for: asked }: UseModelInput): Promise<UsedModel> {
    const { home, isFixed } = this.#input
    if (home === null || isFixed) {
      const why = home === null ? 'this store has no home' : 'the environment or the program names the model'
      throw new QuerentError('conflict', `use_model: ${why}, so config.json cannot set it`, { field: 'folder' })
    }
    const folder = this.#folderOf(given)
    const isBuiltIn = folder === PACKAGED_MODEL_FOLDER
    const check = await this.check(folder)
    if (!check.ok) {
      const message = `model ${check.id}: ${check.message}; nothing was changed`
      throw new QuerentError('model_invalid', message, { folder, expected: 'vectors that distinguish meanings' })
    }
    const role = asked ?? this.#roleOf(check)
    if (role === 'other_languages' && isBuiltIn) {
      throw invalidArgument('for', role, 'all, because the built-in model is for English')
    }
    const settings: EmbedderSettings = isBuiltIn ? { provider: 'local' } : { provider: 'local', folder }
    const setting = role === 'all' ? ['embedder', settings] : ['multilingual', folder]
    await changeSettings(home, setting[0] as string, setting[1] as string | JsonObject)
    const isOpen = await this.#change(role, settings, folder, home)
    return { id: check.id, for: role, folder, restart: !isOpen }
  }

  /**
   * Role of a newly chosen model. A model of many languages becomes the second model if the present one knows only English; every other
   * model replaces the present one.
   */
  #roleOf({ languages }: ModelCheck): 'all' | 'other_languages' {
    const knowsMany = !(languages.length === 1 && languages[0] === 'en')
    const target = this.#target?.model
    const isEnglish = target !== undefined && target.languages.length > 0 && !knowsLanguage(target, 'es')
    return knowsMany && isEnglish ? 'other_languages' : 'all'
  }

  /**
   * Starts using the new model in the open engine. Returns false if that is impossible, so that the change takes effect when the store is
   * next opened.
   */
  async #change(role: string, settings: EmbedderSettings, folder: string, home: string): Promise<boolean> {
    const around = this.#around
    if (this.main === null || around === null) return false
    const next =
      role === 'all' ? (await startEmbedder({}, settings, home)).embedder : await startSecond(undefined, folder, home)
    if (next === null) return false
    this.#opened.add(next)
    const known = new Set(this.all.map(({ model }) => modelKey(model)))
    if (!known.has(modelKey(next.model))) around.indexes.add(around.makeIndex(next))
    if (role === 'all') {
      this.#target = next
      this.#settings = settings
      // If the new settings name the present model (for example with another runtime), all its vectors exist already, so the newly opened
      // embedder answers queries at once.
      if (modelKey(next.model) === modelKey(this.main.model)) this.main.serve(next)
    } else this.#second = next
    this.#isFinished = false
    around.embedding?.start()
    return true
  }

  #folderOf(given: string): string {
    const { home } = this.#input
    if (given === 'built-in') return PACKAGED_MODEL_FOLDER
    if (given === 'multilingual') {
      if (existsSync(SECOND_MODEL_FOLDER)) return SECOND_MODEL_FOLDER
      const expected =
        'a folder, because the multilingual model is not installed; `npm run model:multilingual` in a checkout makes it'
      throw invalidArgument('folder', given, expected)
    }
    return isAbsolute(given) ? given : join(home ?? process.cwd(), given)
  }

  async #record(recorded: Recorded): Promise<void> {
    const { store, now } = this.#input
    const value = canonicalJson(recorded as unknown as JsonObject)
    if (store.meta(NAME) !== value) await store.writeWhenFree(now(), writer => writer.setMeta(NAME, value))
  }

  async #removeVectors(model: string): Promise<void> {
    const { store, now } = this.#input
    let removed: number
    do removed = await store.writeWhenFree(now(), writer => writer.removeVectors(model, REMOVED_AT_ONCE))
    while (removed > 0)
  }
}

/**
 * The earlier model that answers queries while the configured one still has texts to embed; null if no earlier model has vectors, or it
 * cannot be opened.
 */
async function modelBefore(
  { store, target, home, embedderTimeoutMs }: ModelsInput,
  recorded: Recorded | null,
): Promise<Embedder | null> {
  if (target === null || recorded === null || recorded.settings === null) return null
  if (recorded.model === modelKey(target.model) || recorded.removing.includes(modelKey(target.model))) return null
  if (store.chunksWithoutVector(modelKey(target.model), 1).length === 0) return null
  if (store.countVectors(recorded.model, partitionsOf(store)) === 0) return null
  const { embedder } = await startEmbedder({ embedderTimeoutMs }, recorded.settings, home ?? process.cwd())
  if (embedder === null || modelKey(embedder.model) === recorded.model) return embedder
  await embedder.close()
  return null
}

/**
 * The store's record of the model for which its vectors are complete. Null: nothing was embedded yet, or the record cannot be read, for
 * example because another version of the program wrote it.
 */
function recordedIn(reader: StoreReader): Recorded | null {
  try {
    return recordSchema.parse(JSON.parse(reader.meta(NAME) ?? 'null')) as Recorded
  } catch {
    return null
  }
}

function partitionsOf(reader: StoreReader): readonly number[] {
  return reader.partitions().map(({ id }) => id)
}

async function changeSettings(home: string, name: string, setting: string | JsonObject): Promise<void> {
  const file = join(home, 'config.json')
  const { value } = readSettings(file)
  await writeSettings(file, `${JSON.stringify({ ...value, [name]: setting }, null, 2)}\n`)
}
