/**
 * The lens `collections` as two functions: opens what is to be asked (a home, or a ChromaDB server), asks, and closes it.
 * Reading never writes: nothing is made where nothing is.
 */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Clock, Deadline, systemClock } from '../../base/clock.ts'
import type { Embedder } from '../../embed/embedder.ts'
import { type EmbedderSettings, openEmbedder } from '../../embed/open-embedder.ts'
import {
  askCollections,
  type CollectionsAnswer,
  type CollectionsWorld,
  type Warning,
} from '../../lenses/collections/ask.ts'
import type { CollectionsSettings } from '../../lenses/collections/collections-lens.ts'
import { ChromaQueryError, notOpened } from '../../lenses/collections/errors.ts'
import { formatResultsMarkdown } from '../../lenses/collections/markdown.ts'
import { type CollectionsInput, checkInput } from '../../lenses/collections/request.ts'
import type { QueryResult } from '../../lenses/collections/result.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { Source } from '../../pipeline/source.ts'
import { openChromaSource } from '../../sources/chromadb.ts'
import { findHome } from '../home.ts'
import { openEngine } from '../open.ts'
import type { EngineOptions } from '../options.ts'
import { putSample } from './sample-collections.ts'

export interface QueryCollectionsOptions extends Omit<CollectionsInput, 'query'> {
  /** A Querent home; absent: the one of the working folder. */
  readonly persistDirectory?: string | undefined
  /** The sample that comes with this package instead of a store. */
  readonly sample?: boolean | undefined
  /** A ChromaDB server instead; default QUERENT_CHROMA_URL, where no home is named. */
  readonly url?: string | undefined
  /** Of the server; default QUERENT_CHROMA_TENANT, _DATABASE and _TOKEN, then the server's own defaults. */
  readonly tenant?: string | undefined
  readonly database?: string | undefined
  readonly token?: string | undefined
  /** Default: the home's for a home, else all-MiniLM-L6-v2. */
  readonly embedder?: Embedder | EmbedderSettings | 'none' | undefined
  /** For collections that were embedded by another model. */
  readonly embedders?: Readonly<Record<string, Embedder | EmbedderSettings>> | undefined
  readonly clock?: Clock | undefined
  /** Who asks; default the local owner. */
  readonly viewer?: Viewer | undefined
  /** Default 10 seconds. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onWarning?: ((warning: Warning) => void) | undefined
}

const TIMEOUT_MS = 10_000

/** The results alone; warnings go to `onWarning`. Rejects with `ChromaQueryError`. */
export async function queryChromadb(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<readonly QueryResult[]> {
  const { results } = await queryCollections(query, options)
  return results.map(({ title, content, source, score, metadata }) => ({ title, content, source, score, metadata }))
}

/** Results, warnings and what was asked. Rejects with `ChromaQueryError`. */
export async function queryCollections(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<CollectionsAnswer> {
  const { clock = systemClock, timeoutMs = TIMEOUT_MS, signal, onWarning } = options
  const now = clock.now()
  const input = { ...options, query }
  checkInput(input, now)
  const opened = await openWorld(options)
  try {
    const answer = await askCollections(input, { ...opened.world, now, deadline: new Deadline(timeoutMs, signal) })
    for (const warning of answer.warnings) onWarning?.(warning)
    return answer
  } finally {
    await opened.close()
  }
}

/** What a home's configuration declares beside `items` and `analysis`; none where there is no home. */
export async function declaredCollections(persistDirectory?: string): Promise<readonly string[]> {
  try {
    await using engine = await openEngine({ ...READING, embedder: 'none', home: homeIn(persistDirectory) })
    return (engine.host('collections').settings as CollectionsSettings).collections
  } catch {
    // Whoever asks it opens it too, and is told then what is wrong with it.
    return []
  }
}

/** Whether a question that names no store and no server would find one, or the environment names one. */
export function findsStore(): boolean {
  if (variable('QUERENT_CHROMA_URL') !== undefined || variable('QUERENT_HOME') !== undefined) return true
  try {
    findHome({ workingFolder: process.cwd(), create: false })
    return true
  } catch {
    return false
  }
}

interface Opened {
  readonly world: Pick<CollectionsWorld, 'source' | 'sight' | 'embed'>
  close(): Promise<void>
}

const READING: EngineOptions = {
  create: false,
  readOnly: true,
  background: false,
  warm: true,
  onlyLenses: ['collections'],
}

async function openWorld(options: QueryCollectionsOptions): Promise<Opened> {
  try {
    const { persistDirectory, sample = false } = options
    const isNamed = persistDirectory !== undefined || sample
    const url = options.url ?? (isNamed ? undefined : variable('QUERENT_CHROMA_URL'))
    return url === undefined ? await openHome(options) : await openServer(url, options)
  } catch (error) {
    if (error instanceof ChromaQueryError) throw error
    throw notOpened(error instanceof Error ? error.message : String(error), error)
  }
}

async function openHome(options: QueryCollectionsOptions): Promise<Opened> {
  const { persistDirectory, sample = false, embedder, clock, viewer = LOCAL_OWNER } = options
  const home = homeIn(persistDirectory)
  const common = { ...READING, embedder, clock }
  const isFresh = sample || (persistDirectory !== undefined && home === undefined)
  const engine = await openEngine(isFresh ? { ...common, store: 'memory', readOnly: false } : { ...common, home })
  if (sample) await putSample(engine)
  const host = engine.host('collections')
  const embedders = new Embedders({ open: () => Promise.resolve(host.embedder), isOurs: false }, options)
  return {
    world: { source: host.source('local'), sight: host.sight(viewer), embed: embedders.embed },
    close: async () => {
      await embedders.close()
      await engine.close()
    },
  }
}

/** The home named, which may be the folder around it; undefined where none is named, or the folder holds none yet. */
function homeIn(persistDirectory: string | undefined): string | undefined {
  if (persistDirectory === undefined) return undefined
  const folder = resolve(persistDirectory)
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw notOpened('no such directory')
  if (existsSync(join(folder, 'chroma.sqlite3'))) {
    const hint = `start its server (chroma run --path ${persistDirectory}) and name its address with --url`
    throw notOpened(`${persistDirectory} is a folder of ChromaDB's; ${hint}`)
  }
  return [folder, join(folder, '.querent')].find(one => existsSync(join(one, 'store.db')))
}

async function openServer(url: string, options: QueryCollectionsOptions): Promise<Opened> {
  const { tenant, database, token, viewer = LOCAL_OWNER, embedder: standard = { provider: 'local' } } = options
  const source: Source = openChromaSource({
    name: 'chromadb',
    url,
    tenant: tenant ?? variable('QUERENT_CHROMA_TENANT'),
    database: database ?? variable('QUERENT_CHROMA_DATABASE'),
    token: token ?? variable('QUERENT_CHROMA_TOKEN'),
  })
  const embedders = new Embedders({ open: () => embedderOf(standard), isOurs: !isEmbedder(standard) }, options)
  return {
    world: { source, sight: { viewer, partitions: [] }, embed: embedders.embed },
    close: async () => {
      await embedders.close()
      await source.close()
    },
  }
}

interface StandardEmbedder {
  open(): Promise<Embedder | null>
  /** Opened here, so closed here. */
  readonly isOurs: boolean
}

/** The embedders of one question: a text is embedded once by each, and those that were opened here are closed here. */
class Embedders {
  readonly #standard: StandardEmbedder
  readonly #options: QueryCollectionsOptions
  readonly #opened: Promise<Embedder | null>[] = []
  readonly #vectors = new Map<unknown, Promise<Float32Array | null>>()

  constructor(standard: StandardEmbedder, options: QueryCollectionsOptions) {
    this.#standard = standard
    this.#options = options
  }

  readonly embed = (text: string, collection: string): Promise<Float32Array | null> => {
    const own = this.#options.embedders?.[collection]
    const known = this.#vectors.get(own)
    if (known !== undefined) return known
    const made = this.#embed(text, own)
    this.#vectors.set(own, made)
    return made
  }

  async close(): Promise<void> {
    for (const opening of this.#opened) await (await opening.catch(() => null))?.close()
  }

  async #embed(text: string, own: Embedder | EmbedderSettings | undefined): Promise<Float32Array | null> {
    const opening = own === undefined ? this.#standard.open() : embedderOf(own)
    const isOurs = own === undefined ? this.#standard.isOurs : !isEmbedder(own)
    if (isOurs) this.#opened.push(opening)
    const embedder = await opening
    const [vector] = (await embedder?.embed([text], 'query', this.#options.signal)) ?? []
    return vector ?? null
  }
}

function embedderOf(given: Embedder | EmbedderSettings | 'none'): Promise<Embedder | null> {
  if (given === 'none') return Promise.resolve(null)
  if (isEmbedder(given)) return Promise.resolve(given)
  return openEmbedder(given, { baseFolder: process.cwd(), env: process.env, start: 'first-use' })
}

function isEmbedder(given: unknown): given is Embedder {
  return typeof given === 'object' && given !== null && 'embed' in given
}

/** An answer laid out for people. */
export const collectionsMarkdown: typeof formatResultsMarkdown = formatResultsMarkdown

/** What is empty is not set. */
function variable(name: string): string | undefined {
  return process.env[name] || undefined
}
