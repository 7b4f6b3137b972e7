/**
 * Functions for one query of the lens `collections`: each opens what is to be searched (a home, or a ChromaDB server), runs the query, and
 * closes it. Queries write nothing, and no store is created where there is none.
 */

import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Clock, Deadline, systemClock } from '../base/clock.ts'
import type { Embedder } from '../embed/embedder.ts'
import { openEmbedder } from '../embed/open-embedder.ts'
import { type GivenEmbedder, isEmbedder } from '../engine/embedder.ts'
import type { Engine } from '../engine/engine.ts'
import { findHome, HOME_FOLDER, holdsStore } from '../engine/home.ts'
import { openEngine } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import { askCollections, askStore, type CollectionsAnswer, type StoreCall } from '../lenses/collections/ask.ts'
import type { CollectionsSettings } from '../lenses/collections/collections-lens.ts'
import { answerLanguage, formatResultsMarkdown } from '../lenses/collections/markdown.ts'
import { ChromaQueryError, type CollectionsInput, checkedInput, notOpened } from '../lenses/collections/request.ts'
import type { QueryResult } from '../lenses/collections/results.ts'
import type { Warning } from '../lenses/collections/stages.ts'
import { LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import { openChromaSource } from '../sources/chromadb.ts'

const TIMEOUT_MS = 10_000

/** Options of an engine that is opened for one query, and that neither creates a store nor writes to it. */
const READING: EngineOptions = {
  create: false,
  readOnly: true,
  background: false,
  warm: true,
  onlyLenses: ['collections'],
}

/** Runs a query and returns only the results; warnings are passed to `onWarning`. Rejects with `ChromaQueryError`. */
export async function queryChromadb(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<readonly QueryResult[]> {
  const { results } = await queryCollections(query, options)
  return results.map(({ title, content, source, score, metadata }) => ({ title, content, source, score, metadata }))
}

/** Runs a query and returns the results, warnings, and the query as it was run. Rejects with `ChromaQueryError`. */
export async function queryCollections(
  query: string,
  options: QueryCollectionsOptions = {},
): Promise<CollectionsAnswer> {
  const { timeoutMs = TIMEOUT_MS, viewer = LOCAL_OWNER, onWarning } = options
  const { signal = new AbortController().signal } = options
  const input = checkedInput({ ...options, query })
  const opened = await openCollections(options)
  try {
    const answer = await opened.ask(input, { viewer, signal, timeoutMs })
    for (const warning of answer.warnings) onWarning?.(warning)
    return answer
  } finally {
    await opened.close()
  }
}

/** Names of the collections that a home's configuration declares besides the usual `items` and `analysis`; none where there is no home. */
export async function declaredCollections(persistDirectory?: string): Promise<readonly string[]> {
  try {
    await using engine = await openEngine({ ...READING, embedder: 'none', home: homeIn(persistDirectory) })
    return (engine.host('collections').settings as CollectionsSettings).collections
  } catch {
    // Errors are ignored here, because the query that follows opens the home as well and reports what is wrong with it.
    return []
  }
}

/**
 * Whether a query that names neither a store nor a server has something to search: environment variables name a server or home, or the
 * working folder has a store.
 */
export function findsStore(): boolean {
  if (variable('QUERENT_CHROMA_URL') !== undefined || variable('QUERENT_HOME') !== undefined) return true
  try {
    findHome({ workingFolder: process.cwd(), create: false })
    return true
  } catch {
    return false
  }
}

/** Formats results as Markdown for people; with `lang` `auto`, in the language of the query. */
export function collectionsMarkdown(
  results: Parameters<typeof formatResultsMarkdown>[0],
  query: string,
  { lang, urls }: { readonly lang: Parameters<typeof answerLanguage>[0]; readonly urls: boolean },
): string {
  return formatResultsMarkdown(results, query, { lang: answerLanguage(lang, query), urls })
}

export interface QueryCollectionsOptions extends Omit<CollectionsInput, 'query'> {
  /** Path of the Querent home to search; absent: the home of the working folder. */
  readonly persistDirectory?: string | undefined
  /** Whether the sample that ships with this package is searched instead of a store. */
  readonly sample?: boolean | undefined
  /** URL of a ChromaDB server to search instead of a home; default the variable QUERENT_CHROMA_URL, where no home is named. */
  readonly url?: string | undefined
  /**
   * Tenant, database and token for the ChromaDB server; default the variables QUERENT_CHROMA_TENANT, _DATABASE and _TOKEN, then the
   * server's own defaults.
   */
  readonly tenant?: string | undefined
  readonly database?: string | undefined
  readonly token?: string | undefined
  /** Embedder of the query's text. Default: for a home its own embedder, for a server all-MiniLM-L6-v2. */
  readonly embedder?: GivenEmbedder | 'none' | undefined
  /** Embedders of the query's text by collection, for collections whose records were embedded by another model than the others. */
  readonly embedders?: Readonly<Record<string, GivenEmbedder>> | undefined
  readonly clock?: Clock | undefined
  /** Viewer for whom the query runs, and whose access decides what it finds; default the local owner. */
  readonly viewer?: Viewer | undefined
  /** Time limit of a query in milliseconds; default 10 seconds. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onWarning?: ((warning: Warning) => void) | undefined
}

interface OpenedCollections {
  ask(input: CollectionsInput, call: StoreCall): Promise<CollectionsAnswer>
  close(): Promise<void>
}

/** Opens the home or server that the options name. Rejects with `ChromaQueryError`. */
async function openCollections(options: QueryCollectionsOptions): Promise<OpenedCollections> {
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

async function openHome(options: QueryCollectionsOptions): Promise<OpenedCollections> {
  const { persistDirectory, sample = false, embedder, clock } = options
  const home = homeIn(persistDirectory)
  const common = { ...READING, embedder, clock }
  const isFresh = sample || (persistDirectory !== undefined && home === undefined)
  const engine = await openEngine(isFresh ? { ...common, store: 'memory', readOnly: false } : { ...common, home })
  if (sample) await putSample(engine)
  return {
    ask: (input, call) => askStore(engine.host('collections'), input, call),
    close: () => engine.close(),
  }
}

/**
 * The home in the named folder, which may be the home itself or the folder that contains it; undefined where no folder is named, or it
 * contains no home yet.
 */
function homeIn(persistDirectory: string | undefined): string | undefined {
  if (persistDirectory === undefined) return undefined
  const folder = resolve(persistDirectory)
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw notOpened('no such directory')
  if (existsSync(join(folder, 'chroma.sqlite3'))) {
    const hint = `start its server (chroma run --path ${persistDirectory}) and name its address with --url`
    throw notOpened(`${persistDirectory} is a folder of ChromaDB; ${hint}`)
  }
  return [folder, join(folder, HOME_FOLDER)].find(holdsStore)
}

async function openServer(url: string, options: QueryCollectionsOptions): Promise<OpenedCollections> {
  const {
    tenant,
    database,
    token,
    viewer = LOCAL_OWNER,
    clock = systemClock,
    embedder: standard = { provider: 'local' },
  } = options
  const source = openChromaSource({
    name: 'chromadb',
    url,
    tenant: tenant ?? variable('QUERENT_CHROMA_TENANT'),
    database: database ?? variable('QUERENT_CHROMA_DATABASE'),
    token: token ?? variable('QUERENT_CHROMA_TOKEN'),
  })
  const embedders = new QuestionEmbedders({ open: () => embedderOf(standard), isOurs: !isEmbedder(standard) }, options)
  return {
    ask: (input, { timeoutMs, signal }) =>
      askCollections(input, {
        ...{ source, accessScope: { viewer, partitions: [] }, embed: embedders.embed, now: clock.now() },
        deadline: new Deadline(timeoutMs, signal),
      }),
    close: async () => {
      await embedders.close()
      await source.close()
    },
  }
}

/** Value of an environment variable; an empty value counts as not set. */
function variable(name: string): string | undefined {
  return process.env[name] || undefined
}

type Given = Pick<QueryCollectionsOptions, 'embedders' | 'signal'>

interface StandardEmbedder {
  open(): Promise<Embedder | null>
  /** Whether the embedder is opened by this code, which must then close it. */
  readonly isOurs: boolean
}

/**
 * The embedders of one query to several collections, whose records may be embedded by different models. The query's text is embedded once
 * by each model; embedders that were opened here are closed here.
 */
class QuestionEmbedders {
  readonly #standard: StandardEmbedder
  readonly #given: Given
  readonly #opened: Promise<Embedder | null>[] = []
  readonly #vectors = new Map<unknown, Promise<Float32Array | null>>()

  constructor(standard: StandardEmbedder, given: Given) {
    this.#standard = standard
    this.#given = given
  }

  readonly embed = (text: string, collection: string): Promise<Float32Array | null> => {
    const own = this.#given.embedders?.[collection]
    const known = this.#vectors.get(own)
    if (known !== undefined) return known
    const made = this.#embed(text, own)
    this.#vectors.set(own, made)
    return made
  }

  async close(): Promise<void> {
    for (const opening of this.#opened) await (await opening.catch(() => null))?.close()
  }

  async #embed(text: string, own: GivenEmbedder | undefined): Promise<Float32Array | null> {
    const opening = own === undefined ? this.#standard.open() : embedderOf(own)
    const isOurs = own === undefined ? this.#standard.isOurs : !isEmbedder(own)
    if (isOurs) this.#opened.push(opening)
    const embedder = await opening
    const [vector] = (await embedder?.embed([text], 'query', this.#given.signal)) ?? []
    return vector ?? null
  }
}

function embedderOf(given: GivenEmbedder | 'none'): Promise<Embedder | null> {
  if (given === 'none') return Promise.resolve(null)
  if (isEmbedder(given)) return Promise.resolve(given)
  return openEmbedder(given, { baseFolder: process.cwd(), env: process.env, start: 'first-use' })
}

/** Writes the sample records into the store, visible to every viewer. Dates in the sample are counted back from the engine's clock. */
export async function putSample(engine: Engine): Promise<void> {
  const { sampleRecords } = await import('../lenses/collections/sample/sample.ts')
  const records = sampleRecords(engine.host('collections').clock.now())
  const entries = records.map(record => ({ ...record, visibility: 'public' as const }))
  await engine.put({ entries, wait: true }, { viewer: LOCAL_OWNER })
}
