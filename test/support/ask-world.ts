/**
 * A store with indexes that can be asked: what an engine is to the pipeline, in a page, for tests of the pipeline. The
 * parts come from the test, so that every store and every index can be tried.
 */

import { Deadline, type Instant } from '../../src/base/clock.ts'
import { Turns } from '../../src/base/turns.ts'
import { type Embedder, modelKey } from '../../src/embed/embedder.ts'
import type { VectorIndex, WordIndex } from '../../src/index/contract.ts'
import { type ChunkDraft, chunkText, chunkTitle, type EntryDraft, type EntryKey } from '../../src/model/entry.ts'
import { ENTRY_FIELDS } from '../../src/model/filter.ts'
import type { ExplainAnswer, Note } from '../../src/model/page.ts'
import type { QueryInput } from '../../src/model/query-input.ts'
import { type AccessScope, LOCAL_OWNER, type Viewer } from '../../src/model/viewer.ts'
import { lookAt } from '../../src/pipeline/access.ts'
import type { QueryContext } from '../../src/pipeline/context.ts'
import { DEFAULT_LENS_STAGES } from '../../src/pipeline/default-stages.ts'
import { type ExplainTarget, explainEntry } from '../../src/pipeline/explain.ts'
import { CachedOrders } from '../../src/pipeline/later-pages.ts'
import { Memo } from '../../src/pipeline/memo.ts'
import { resolveQuery } from '../../src/pipeline/resolve-query.ts'
import { runQuery } from '../../src/pipeline/run.ts'
import { similarTo } from '../../src/pipeline/similar.ts'
import type { Answer, Stages } from '../../src/pipeline/stage.ts'
import { assertNotCancelled } from '../../src/pipeline/time-limit.ts'
import { MEMBERSHIPS } from '../../src/store/core-tables.ts'
import type { Store } from '../../src/store/store.ts'
import type { Known } from './ask-arbitraries.ts'
import { draftOf, wholeChunk } from './entries.ts'

export interface WorldParts {
  readonly store: Store
  readonly words: WordIndex
  /** Null: words only. */
  readonly vectors: VectorIndex | null
  readonly embedder: Embedder | null
}

export interface AskOptions {
  readonly viewer?: Viewer | undefined
  readonly stages?: Stages | undefined
  readonly now?: Instant | undefined
  readonly deadline?: Deadline | undefined
  /** Default: as in an engine. */
  readonly turns?: Turns | undefined
  /** Nothing is held for the pages to come: as if another process was asked for each. */
  readonly isAlone?: boolean | undefined
  /** What the context is changed to just before the question is asked. */
  readonly twist?: ((context: QueryContext) => QueryContext) | undefined
}

export const WORLD_NOW: Instant = Date.UTC(2026, 0, 1)

export class AskWorld {
  readonly parts: WorldParts
  readonly memo: Memo = new Memo()
  readonly held: CachedOrders = new CachedOrders()
  #version = -1

  constructor(parts: WorldParts) {
    this.parts = parts
  }

  /** One chunk an entry unless others are given. Vectors wait for `embedAll`. */
  put(fields: Partial<EntryDraft> & Pick<EntryDraft, 'id'>, chunks?: readonly ChunkDraft[]): EntryKey {
    const draft = draftOf(fields)
    return this.parts.store.write(WORLD_NOW, writer => writer.put(draft, chunks ?? wholeChunk(draft)).key)
  }

  /** Puts all of it, with vectors for what is embedded, and the viewer's use. */
  async learn(all: readonly Known[], viewer: Viewer = LOCAL_OWNER): Promise<void> {
    const of = (wanted: boolean) => all.filter(({ embedded }) => embedded === wanted)
    const keys = new Map(of(true).map(known => [known, this.put(known.draft)]))
    await this.embedAll()
    for (const known of of(false)) keys.set(known, this.put(known.draft))
    this.parts.store.write(WORLD_NOW, writer => {
      for (const [{ access }, key] of keys) if (access !== null) writer.setAccess(viewer, key, access)
    })
  }

  join(federation: string, agent: string, status: 'active' | 'suspended' | 'left' = 'active'): void {
    this.parts.store.write(WORLD_NOW, writer => {
      writer.table(MEMBERSHIPS).put({ federation, agent, status, updated_at: WORLD_NOW })
    })
  }

  async embedAll(): Promise<void> {
    const { store, embedder } = this.parts
    if (embedder === null) return
    const model = modelKey(embedder.model)
    const chunks = store.chunksWithoutVector(model, Number.MAX_SAFE_INTEGER)
    const texts = chunks.map(chunk => {
      const entry = store.entry(chunk.entry)
      return entry === undefined ? '' : `${chunkTitle(entry, chunk)}\n${chunkText(entry, chunk)}`
    })
    const vectors = await embedder.embed(texts, 'passage')
    store.write(WORLD_NOW, writer => {
      writer.putVectors(
        model,
        chunks.map((chunk, at) => ({ chunk: chunk.key, vector: vectors[at] as Float32Array })),
      )
    })
  }

  async ask(input: QueryInput, options: AskOptions = {}): Promise<Answer> {
    const held = options.isAlone ? null : this.held
    return runQuery(options.stages ?? DEFAULT_LENS_STAGES, this.context(input, options), held)
  }

  async explain(input: QueryInput, target: ExplainTarget, options: AskOptions = {}): Promise<ExplainAnswer> {
    return explainEntry(target, options.stages ?? DEFAULT_LENS_STAGES, this.context(input, options))
  }

  async similar(
    key: EntryKey,
    limit = 10,
    { group, ...options }: AskOptions & Pick<QueryInput, 'group'> = {},
  ): Promise<Answer> {
    const entry = this.parts.store.entry(key)
    if (entry === undefined) throw new Error('there is no such entry')
    const stages = similarTo(entry, options.stages ?? DEFAULT_LENS_STAGES)
    return runQuery(stages, this.context({ text: '', limit, group }, options))
  }

  /** Every page of an answer, one after the other. */
  async pages(input: QueryInput, options: AskOptions = {}): Promise<readonly Answer[]> {
    const answers = [await this.ask(input, options)]
    for (;;) {
      const cursor = answers.at(-1)?.page.cursor ?? null
      if (cursor === null) return answers
      answers.push(await this.ask({ ...input, cursor }, options))
    }
  }

  #refresh(): void {
    const { store, words, vectors } = this.parts
    const version = store.version()
    if (version !== this.#version) while (this.held.settleSome());
    this.#version = version
    words.refresh(store)
    vectors?.refresh(store)
  }

  context(input: QueryInput, options: AskOptions = {}): QueryContext {
    const { store, words, vectors, embedder } = this.parts
    const { viewer = LOCAL_OWNER, now = WORLD_NOW } = options
    this.#refresh()
    const asked = { viewer, now, secret: () => SECRET, defaultLens: 'default', fields: ENTRY_FIELDS }
    const query = resolveQuery(input, { ...asked, countsListing: () => false, optionsOf: () => ({}) })
    const notes: Note[] = []
    const look = (): AccessScope => lookAt(store, viewer)
    let accessScope = look()
    const context: QueryContext = {
      query,
      get accessScope() {
        return accessScope
      },
      now,
      deadline: options.deadline ?? new Deadline(query.timeoutMs),
      turns: options.turns ?? new Turns(() => assertNotCancelled(context)),
      reader: store,
      words,
      vectors,
      model: embedder?.model ?? null,
      fields: ENTRY_FIELDS,
      secret: () => SECRET,
      memo: this.memo,
      index: name => {
        throw new Error(`this world has no index ${name}`)
      },
      embed: async text => {
        const [vector = null] = embedder === null ? [] : await embedder.embed([text], 'query')
        this.#refresh()
        accessScope = look()
        return vector
      },
      look,
      note: note => notes.push(note),
      notes,
      trace: [],
    }
    return options.twist?.(context) ?? context
  }
}

const SECRET = 'secret of the test world'
