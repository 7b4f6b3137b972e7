/**
 * The composition root: builds an engine with all its parts from options, configuration and environment variables. No other module does.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { v4Id } from '../base/canonical.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Limits, Places, UNLIMITED } from '../identity/rates.ts'
import type { Job, LensHost } from '../lenses/lens.ts'
import { BUILT_IN_LENSES, LensRegistry, type LoadableLens } from '../lenses/registry.ts'
import { QuerentError } from '../model/errors.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import { CORE_TABLES, UNEXPORTED } from '../store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { AddedFiles } from './added-files.ts'
import type { BackgroundJob, JobState } from './background/background.ts'
import { Lease, nameHolder } from './background/lease.ts'
import { isEmbedder, runtimeNotice, startEmbedder, startSecond } from './embedder.ts'
import { Closers } from './ending.ts'
import type { Engine } from './engine.ts'
import { findHome, type Home, openWorkspace } from './home.ts'
import { IndexSet, loadIndexMakers } from './index-set.ts'
import { withCalls } from './lens-hosts.ts'
import { LocalEngine } from './local-engine.ts'
import { Models } from './models.ts'
import { type Config, type EngineOptions, type Environment, resolveConfig } from './options.ts'
import type { Parts } from './parts.ts'
import type { HostedLens } from './plugins.ts'
import type { SourceSet } from './sources.ts'
import { Uses } from './uses.ts'

/**
 * Opens an engine. Without options it opens the store of the working folder (`.querent`, searched upwards, or QUERENT_HOME) with the
 * built-in model. Two engines in one process share nothing. Rejects with `store_missing`, `store_locked`, `store_corrupt`, `store_newer`,
 * `invalid_argument` (a setting) and the like. A missing model is no error: then words alone answer, and the answers say so.
 */
export function openEngine(options: EngineOptions = {}): Promise<Engine> {
  return openEngineOf(BUILT_IN_LENSES, options)
}

/**
 * Opens an engine with these built-in lenses. If there is no store, the engine works on an empty store in memory, with word search only,
 * instead of failing with `store_missing`.
 */
export async function openEngineOrEmpty(
  options: EngineOptions,
  builtIn: readonly LoadableLens[] = BUILT_IN_LENSES,
): Promise<Engine> {
  try {
    return await openEngineOf(builtIn, options)
  } catch (error) {
    if (!(error instanceof QuerentError && error.code === 'store_missing')) throw error
    return openEngineOf(builtIn, { ...options, home: undefined, store: 'memory', embedder: 'none', background: false })
  }
}

/** Opens an engine with the given lenses in place of the built-in ones; rejects with the same errors as `openEngine`. */
export async function openEngineOf(builtIn: readonly LoadableLens[], options: EngineOptions): Promise<Engine> {
  const environment = variablesSet(process.env)
  const home = options.store === undefined ? locate(options, environment) : null
  const config = resolveConfig(options, home?.configFile ?? null, environment)
  const { onlyLenses } = options
  const isNeeded = ({ name }: LoadableLens) =>
    onlyLenses === undefined || name === config.defaultLens || onlyLenses.includes(name)
  const loaded = await Promise.all(builtIn.filter(isNeeded).map(lens => lens.load()))
  const unloaded = builtIn.filter(lens => !isNeeded(lens))
  const registry = new LensRegistry([...loaded, ...(options.lenses ?? [])], unloaded)
  const closers = new Closers()
  try {
    return await wire(options, { config, environment, home, registry, closers })
  } catch (error) {
    // If opening failed, the parts opened so far are closed; an error while closing them must not replace the error of opening.
    await closers.close().catch(() => undefined)
    throw error
  }
}

/**
 * The environment variables that are not empty. An empty variable counts as not set, because `QUERENT_HOME= querent …` is how a shell
 * unsets a variable for one command.
 */
function variablesSet(environment: Environment): Readonly<Record<string, string>> {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => Boolean(entry[1])
  return Object.fromEntries(Object.entries(environment).filter(isSet))
}

function locate(options: EngineOptions, environment: Environment): Home {
  return findHome({
    home: options.home,
    environmentHome: environment['QUERENT_HOME'],
    workingFolder: process.cwd(),
    create: options.create ?? (options.home !== undefined && options.readOnly !== true),
  })
}

interface Wiring {
  readonly config: Config
  readonly environment: Readonly<Record<string, string>>
  readonly home: Home | null
  readonly registry: LensRegistry
  /** Functions that close the parts of the engine; each is added when its part has been opened. */
  readonly closers: Closers
}

async function wire(options: EngineOptions, wiring: Wiring): Promise<Engine> {
  const { config, home, registry, closers } = wiring
  const states = new Map<string, JobState>()
  const holder = nameHolder(v4Id(secureRandom))
  const parts = await makeParts(options, wiring, { states, holder })
  const engine = withCalls(new LocalEngine(parts))
  registry.must(config.defaultLens, 'default_lens')
  // All lens hosts are created while the engine opens, so that a wrong setting of a lens is reported at once.
  const hosted = registry.all.map(lens => ({ lens, host: engine.host(lens.name) }))
  if (hosted.some(({ lens }) => lens.install !== undefined)) {
    const { installPlugins } = await import('./plugins.ts')
    await installPlugins({ hosted, areAll: !registry.mayTakeMorePlugins }, home, options.plugins)
  }
  for (const { lens, host } of hosted) {
    closers.add(() => lens.close?.(host))
    await lens.open?.(host)
  }
  if (options.readOnly !== true) await keepUp(parts, hosted, { states, holder, closers, options })
  return engine
}

async function makeParts(
  options: EngineOptions,
  { config, environment, home, registry, closers }: Wiring,
  { states, holder }: { readonly states: ReadonlyMap<string, JobState>; readonly holder: string },
): Promise<Parts> {
  const store = openStore(options, config, home)
  closers.add(() => store.close())
  const uses = new Uses(store)
  closers.add(() => uses.end())
  const { clock = systemClock, random = secureRandom } = options
  const { models, error: embedderError } = await openModels(options, { config, environment, home, store, clock })
  const embedder = models.main
  closers.add(() => models.close())
  const isWasmChosen = config.embedder.provider === 'local' && config.embedder.runtime === 'wasm'
  if (options.notice !== undefined && !isWasmChosen) {
    const notice = runtimeNotice(home?.folder ?? null, embedder)
    if (notice !== null) options.notice(notice)
  }
  const makers = await loadIndexMakers(store, models.all, registry.all)
  const indexes = new IndexSet(store, home?.indexFolder ?? null, makers.all())
  closers.add(() => indexes.close())
  const lease = (name: string) => new Lease(store, name, holder, machineNow)
  let embedding: Parts['embedding'] = null
  if (embedder !== null && options.readOnly !== true) {
    const { Embedding } = await import('./background/background.ts')
    embedding = new Embedding(store, models, lease('embedding'), () => clock.now())
  }
  models.lend({ indexes, embedding, makeIndex: embedder => makers.add(embedder) })
  let sources: Promise<SourceSet> | null = null
  const openSources = async () => {
    const { SourceSet } = await import('./sources.ts')
    return new SourceSet({ store, settings: config.sources, environment })
  }
  closers.add(async () => (await sources)?.close())
  const { transport = httpTransport() } = options
  closers.add(() => transport.close())
  return {
    store,
    home: home?.folder ?? null,
    storeFile: home?.storeFile ?? null,
    workspace: home === null ? undefined : openWorkspace(home),
    clock,
    random,
    embedder,
    models,
    embedderError,
    indexes,
    snapshots: lease('snapshots'),
    lease,
    uses,
    files: new AddedFiles({ store, clock, registry, indexes }, watchesFiles(options)),
    sources: () => {
      sources ??= openSources()
      return sources
    },
    ...(await nodeOf(options, registry, { store, random })),
    transport,
    isLasting: options.background !== false && options.readOnly !== true,
    makeIndex: name => makers.make(name),
    makeScratch: () => makers.openScratch(embedder),
    embedding,
    warm: options.warm === true,
    jobs: states,
    registry,
    tables: [...CORE_TABLES.filter(table => !UNEXPORTED.has(table)), ...registry.tables],
    defaultLens: config.defaultLens,
    live: { ...config.live, ...options.live },
    limits: await limitsOf(config, options, clock, { store, tables: [...CORE_TABLES, ...registry.tables] }),
    lensSettings: config.lenses,
    environment,
    close: () => closers.close(),
  }
}

interface ModelWiring {
  readonly config: Config
  readonly environment: Environment
  readonly home: Home | null
  readonly store: Store
  readonly clock: Clock
}

/** Opens the embedding models of an engine. `error`: why there is no model although the settings ask for one; null otherwise. */
async function openModels(
  options: EngineOptions,
  { config, environment, home, store, clock }: ModelWiring,
): Promise<{ readonly models: Models; readonly error: string | null }> {
  const folder = home?.folder ?? process.cwd()
  const { embedder: target, error } = await startEmbedder(options, config.embedder, folder)
  const second = target === null ? null : await startSecond(options.multilingual, config.multilingual, folder)
  const isFixed = options.embedder !== undefined || Object.keys(environment).some(name => MODEL_VARIABLE.test(name))
  const settings = isEmbedder(options.embedder) ? null : config.embedder
  const { embedderTimeoutMs } = options
  const models = {
    ...{ store, now: () => clock.now(), home: home?.folder ?? null },
    ...{ settings, isFixed, target, second, embedderTimeoutMs },
  }
  return { models: await Models.open(models), error }
}

const MODEL_VARIABLE = /^QUERENT_(?:EMBEDDER|MULTILINGUAL)/

/**
 * The identity with which this node (the store of this engine) communicates with other nodes. Undefined if only the default lens (query
 * module) was loaded, for one query: then nothing communicates with other nodes.
 */
async function nodeOf(
  options: EngineOptions,
  registry: LensRegistry,
  { store, random }: Pick<Parts, 'store' | 'random'>,
): Promise<Pick<Parts, 'node' | 'signedRequests'>> {
  if (options.onlyLenses !== undefined && registry.all.length === 1)
    return { node: undefined, signedRequests: undefined }
  const { nodeIdentity, signedRequests } = await import('./node-identity.ts')
  const node = nodeIdentity({ store, random, clock: systemClock, machineTime: machineTimeOf(options) })
  return { node, signedRequests: signedRequests(store, node) }
}

function watchesFiles({ watchFiles, background, readOnly }: EngineOptions): boolean {
  return watchFiles === true && background !== false && readOnly !== true
}

interface Keeping {
  readonly states: Map<string, JobState>
  readonly holder: string
  readonly closers: Closers
  readonly options: EngineOptions
}

/**
 * Registers what must be done when the engine is closed (saving snapshots, erasing deleted bytes), and starts the engine's background work,
 * unless the options turn that off.
 */
async function keepUp(
  parts: Parts,
  hosted: readonly HostedLens[],
  { states, holder, closers, options }: Keeping,
): Promise<void> {
  const { store, clock, indexes, snapshots, embedding, files } = parts
  const { upkeep } = store
  closers.add(async () => {
    if (!indexes.isWorthSaving) return
    const { saveSnapshots } = await import('./background/background.ts')
    await saveSnapshots(indexes, snapshots)
  })
  if (upkeep !== undefined) {
    closers.add(async () => {
      if (upkeep.forgotten()?.isErased !== false) return
      const { eraseAtEnd } = await import('./background/log-keeper.ts')
      await eraseAtEnd(upkeep, indexes, snapshots)
    })
  }
  closers.add(() => embedding?.close())
  if (options.background === false) return
  const ofLenses = hosted.flatMap(({ lens, host }) => (lens.jobs ?? []).map(job => jobOf(job, host)))
  const jobs = [...(files.isWatched ? [files.job()] : []), ...ofLenses]
  const { Background } = await import('./background/background.ts')
  const background = new Background({ store, clock, indexes, embedding, jobs, states, holder, machineNow })
  closers.add(() => background.close())
  if (upkeep === undefined) return
  const lease = new Lease(store, 'log', holder, machineNow)
  const { LogKeeper } = await import('./background/log-keeper.ts')
  const keeper = new LogKeeper({ store, upkeep, indexes, lease, snapshots })
  closers.add(() => keeper.close())
}

function jobOf(job: Job, host: LensHost): BackgroundJob {
  return { name: job.name, everyMs: job.everyMs, run: (...of) => job.run(host, ...of) }
}

/** The clock for limits and pauses: monotonic time in whole milliseconds, or the clock given in the options. */
function machineTimeOf({ machineTime }: EngineOptions): () => number {
  return machineTime ?? (() => Math.floor(performance.now()))
}

/**
 * The transport that sends messages to other nodes (other stores of Querent) over HTTP. Its module is imported when the first message is
 * sent, because most processes send none.
 */
function httpTransport(): NodeTransport {
  let opened: Promise<NodeTransport> | null = null
  let isClosed = false
  const open = async () => {
    const { openHttpTransport } = await import('../sources/http-transport.ts')
    const transport = openHttpTransport()
    if (isClosed) await transport.close()
    return transport
  }
  return {
    send: async (...message) => {
      opened ??= open()
      return (await opened).send(...message)
    },
    close: async () => {
      isClosed = true
      await (await opened)?.close()
    },
  }
}

async function limitsOf(
  { limits }: Config,
  options: EngineOptions,
  clock: Clock,
  { store, tables }: { readonly store: Store; readonly tables: readonly TableDeclaration[] },
): Promise<Limits> {
  const { enabled, unitsPerMinute, burst, bytesPerViewer } = limits
  if (!enabled) return UNLIMITED
  const { AddressLimits, QuestionLimits, RequesterLimits } = await import('../identity/limits.ts')
  const { ByteQuota } = await import('./byte-quota.ts')
  const now = machineTimeOf(options)
  return new RequesterLimits({ unitsPerMinute, burst }, now, {
    questions: new QuestionLimits(limits, clock),
    streams: new Places(limits.streams, 'streams'),
    bytes: new ByteQuota(store, clock, bytesPerViewer, tables),
    addresses: new AddressLimits(now),
  })
}

function secureRandom(bytes: number): Uint8Array {
  return new Uint8Array(randomBytes(bytes))
}

function machineNow(): number {
  return Date.now()
}

/**
 * Opens the engine's store: the one given in the options, or the store file in the home, created if needed. `home` may be null only if the
 * options give a store.
 */
export function openStore(
  { store, readOnly, keepsState }: EngineOptions,
  { durability }: Config,
  home: Home | null,
): Store {
  if (store === 'memory') return openMemoryStore()
  if (store !== undefined) return store
  if (home === null) throw new Error('invariant broken: a store needs a home')
  if (readOnly !== true && !existsSync(home.storeFile)) makeForThisUser(home.storeFile)
  return openSqliteStore({ file: home.storeFile, durability, readOnly, keepsState })
}

/**
 * Creates the empty store file with permissions for this user only; SQLite would create it readable for everybody who can enter the folder.
 */
function makeForThisUser(file: string): void {
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
  } catch {
    // a failure is ignored: either another process created the file first, or opening the store next reports the problem with the folder
    // better
  }
}
