/** Opens what a question to collections is asked of: a home, a sample in memory, or a ChromaDB server. */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Deadline, systemClock } from '../../base/clock.ts'
import { askCollections, askStore, type CollectionsAnswer, type StoreCall } from '../../lenses/collections/ask.ts'
import { ChromaQueryError, notOpened } from '../../lenses/collections/errors.ts'
import type { CollectionsInput } from '../../lenses/collections/request.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import { openChromaSource } from '../../sources/chromadb.ts'
import { isEmbedder } from '../given-embedder.ts'
import { HOME_FOLDER, holdsStore } from '../home.ts'
import { openEngine } from '../open.ts'
import type { EngineOptions } from '../options.ts'
import type { QueryCollectionsOptions } from './collections-options.ts'
import { embedderOf, QuestionEmbedders } from './question-embedders.ts'
import { putSample } from './sample-collections.ts'

export interface OpenedCollections {
  ask(input: CollectionsInput, call: StoreCall): Promise<CollectionsAnswer>
  close(): Promise<void>
}

/** One question, which makes nothing and writes nothing. */
export const READING: EngineOptions = {
  create: false,
  readOnly: true,
  background: false,
  warm: true,
  onlyLenses: ['collections'],
}

/** Rejects with `ChromaQueryError`. */
export async function openCollections(options: QueryCollectionsOptions): Promise<OpenedCollections> {
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

/** The home named, which may be the folder around it; undefined where none is named, or the folder holds none yet. */
export function homeIn(persistDirectory: string | undefined): string | undefined {
  if (persistDirectory === undefined) return undefined
  const folder = resolve(persistDirectory)
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw notOpened('no such directory')
  if (existsSync(join(folder, 'chroma.sqlite3'))) {
    const hint = `start its server (chroma run --path ${persistDirectory}) and name its address with --url`
    throw notOpened(`${persistDirectory} is a folder of ChromaDB's; ${hint}`)
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
        ...{ source, sight: { viewer, partitions: [] }, embed: embedders.embed, now: clock.now() },
        deadline: new Deadline(timeoutMs, signal),
      }),
    close: async () => {
      await embedders.close()
      await source.close()
    },
  }
}

/** What is empty is not set. */
export function variable(name: string): string | undefined {
  return process.env[name] || undefined
}
