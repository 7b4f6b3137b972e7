/** The composition root: makes an engine from options, configuration and the world. Nothing else builds one. */
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { v4Id } from '../base/random-id.ts'
import { checkEmbedder } from '../embed/checked-embedder.ts'
import { type Embedder, modelKey } from '../embed/embedder.ts'
import { openEmbedder } from '../embed/open-embedder.ts'
import { cacheQueries } from '../embed/query-cache.ts'
import { type Limits, RequesterLimits, UNLIMITED } from '../identity/limits.ts'
import { QuestionLimits } from '../identity/question-limits.ts'
import { StreamLimits } from '../identity/stream-limits.ts'
import type { Index } from '../index/contract.ts'
import { openLinkIndex } from '../index/links.ts'
import { openPointIndex } from '../index/points.ts'
import { openVectorIndex } from '../index/vectors.ts'
import { openWordIndex } from '../index/words.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
import { LensRegistry } from '../lenses/registry.ts'
import { QuerentError } from '../model/errors.ts'
import { CORE_TABLES, LEASES, NONCES } from '../store/core-tables.ts'
import { openMemoryStore } from '../store/memory-store.ts'
import { openSqliteStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { Background, type JobState, saveSnapshots } from './background/background.ts'
import { BUILT_IN_LENSES, type BuiltInLens } from './builtins.ts'
import { type Config, type Environment, resolveConfig } from './config.ts'
import { Embedding } from './background/embedding.ts'
import type { Engine } from './engine.ts'
import { nameHolder } from './background/holder.ts'
import { findHome, type Home } from './home.ts'
import { IndexSet } from './index-set.ts'
import { Lease } from './background/lease.ts'
import { LocalEngine } from './local-engine.ts'
import { eraseAtEnd, LogKeeper } from './background/log-keeper.ts'
import type { EngineOptions } from './options.ts'
import { TRUST_FILE } from './plugin-trust.ts'
import { loadPlugins, PLUGIN_FOLDER } from './plugins.ts'
import { SourceSet } from './sources.ts'
import { Uses } from './uses.ts'
import { openWorkspace } from './workspace.ts'

type Closer = () => unknown

/** Vectors of questions kept, so that the same question is not embedded twice. */
const QUERY_CACHE = 1_000

/**
 * Opens an engine. Without options: the store of the working folder (`.querent`, found upwards, or QUERENT_HOME) with
 * the built-in model. Two engines in one process share nothing. Rejects with `store_missing`, `store_locked`,
 * `store_corrupt`, `store_newer`, `invalid_argument` (a setting) and the like; a missing model is no error: then
 * answers come from words and say so.
 */
export function openEngine(options: EngineOptions = {}): Promise<Engine> {
  return openEngineOf(BUILT_IN_LENSES, options)
}

/** As `openEngine`, with these lenses as the built-in ones. */
export async function openEngineOf(builtIn: readonly BuiltInLens[], options: EngineOptions): Promise<Engine> {
  const environment = variablesSet(process.env)
  const home = options.store === undefined ? locate(options, environment) : null
  const config = resolveConfig(options, home?.configFile ?? null, environment)
  const { onlyLenses } = options
  const isNeeded = ({ name }: BuiltInLens) =>
    onlyLenses === undefined || name === config.defaultLens || onlyLenses.includes(name)
  const loaded = await Promise.all(builtIn.filter(isNeeded).map(lens => lens.load()))
  const asleep = builtIn.filter(lens => !isNeeded(lens))
  const registry = new LensRegistry([...loaded, ...(options.lenses ?? [])], asleep)
  const closers: Closer[] = []
  try {
    return await wire(options, { config, environment, home, registry, closers })
  } catch (error) {
    // Why it could not be opened is what is told, whatever closing says.
    await closeAll(closers).catch(() => undefined)
    throw error
  }
}

/** `QUERENT_HOME= querent …` is how a shell takes a variable back: what is empty is not set. */
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

function openStore(options: EngineOptions, config: Config, home: Home | null): Store {
  if (options.store === 'memory') return openMemoryStore()
  if (options.store !== undefined) return options.store
  if (home === null) throw new Error('invariant broken: a store needs a home')
  if (options.readOnly !== true && !existsSync(home.storeFile)) makeForThisUser(home.storeFile)
  return openSqliteStore({
    file: home.storeFile,
    durability: config.durability,
    ...(options.readOnly === undefined ? {} : { readOnly: options.readOnly }),
  })
}

/** SQLite would let everybody read it whom the folder lets in. */
function makeForThisUser(file: string): void {
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
  } catch {
    // Another process was quicker, or the store says better what is wrong with the folder.
  }
}

interface Wiring {
  readonly config: Config
  readonly environment: Readonly<Record<string, string>>
  readonly home: Home | null
  readonly registry: LensRegistry
  /** Filled here: what closes what was opened. */
  readonly closers: Closer[]
}

async function wire(options: EngineOptions, wiring: Wiring): Promise<Engine> {
  const { config, environment, home, registry, closers } = wiring
  const store = openStore(options, config, home)
  closers.push(() => store.close())
  const uses = new Uses(store)
  closers.push(() => uses.end())
  const clock = options.clock ?? systemClock
  const random = options.random ?? (bytes => new Uint8Array(randomBytes(bytes)))
  const machineNow = () => Date.now()
  const holder = nameHolder(v4Id(bytes => new Uint8Array(randomBytes(bytes))))
  const { embedder, error: embedderError } = await startEmbedder(options, config, home)
  closers.push(() => embedder?.close())

  const makers = indexMakers(store, embedder, registry)
  const makeIndex = (name: string): Index => {
    const maker = makers.get(name)
    if (maker === undefined) throw new Error(`invariant broken: no index ${name}`)
    return maker()
  }
  const indexes = new IndexSet(store, home?.indexFolder ?? null, [...makers.keys()].map(makeIndex))
  const embedding =
    embedder === null || options.readOnly === true
      ? null
      : new Embedding(store, embedder, new Lease(store, 'embedding', holder, machineNow), () => clock.now())

  const sources = new SourceSet({ store, indexes, settings: config.sources, environment })
  closers.push(() => sources.close())

  const states = new Map<string, JobState>()
  const engine = new LocalEngine({
    store,
    home: home?.folder ?? null,
    storeFile: home?.storeFile ?? null,
    workspace: home === null ? undefined : openWorkspace(home),
    clock,
    random,
    embedder,
    embedderError,
    indexes,
    uses,
    sources,
    makeIndex,
    embedding,
    warm: options.warm === true,
    jobs: states,
    registry,
    tables: [...CORE_TABLES.filter(table => table !== LEASES && table !== NONCES), ...registry.tables],
    defaultLens: config.defaultLens,
    live: { ...config.live, ...options.live },
    log: options.log,
    limits: limitsOf(config, options, clock),
    lensSettings: config.lenses,
    environment,
    close: () => closeAll(closers),
  })
  registry.must(config.defaultLens)
  // Made now, so that a wrong setting of a lens shows when the engine opens.
  const hosts = registry.all.map(lens => engine.host(lens.name))
  await installPlugins(registry.all, hosts, home, options)
  for (const [at, lens] of registry.all.entries()) {
    const host = hosts[at] as LensHost
    closers.push(() => lens.close?.(host))
    await lens.open?.(host)
  }
  const snapshots = new Lease(store, 'snapshots', holder, machineNow)
  closers.push(() => {
    if (options.readOnly !== true) saveSnapshots(indexes, snapshots)
  })
  const { upkeep } = store
  if (upkeep !== undefined && options.readOnly !== true) closers.push(() => eraseAtEnd(upkeep, indexes, snapshots))
  closers.push(() => embedding?.close())
  if (options.background !== false && options.readOnly !== true) {
    const jobs = registry.all.flatMap((lens, i) => (lens.jobs ?? []).map(job => ({ job, host: hosts[i] as LensHost })))
    const background = new Background({ store, clock, indexes, embedding, jobs, states, holder, machineNow })
    closers.push(() => background.close())
    if (upkeep !== undefined) {
      const lease = new Lease(store, 'log', holder, machineNow)
      const keeper = new LogKeeper({ store, upkeep, indexes, lease, snapshots })
      closers.push(() => keeper.close())
    }
  }
  return engine
}

/** On a clock that nobody can set, whose milliseconds are whole. */
function limitsOf(
  { limits }: Config,
  { machineTime = () => Math.floor(performance.now()) }: EngineOptions,
  clock: Clock,
): Limits {
  const { enabled, unitsPerMinute, burst } = limits
  if (!enabled) return UNLIMITED
  const others = { questions: new QuestionLimits(limits, clock), streams: new StreamLimits(limits.streams) }
  return new RequesterLimits({ unitsPerMinute, burst }, machineTime, others)
}

/** Each lens that takes plug-ins is offered each module; one that none takes and some refuse is skipped with a warning. */
async function installPlugins(
  lenses: readonly Lens[],
  hosts: readonly LensHost[],
  home: Home | null,
  { plugins = {} }: EngineOptions,
): Promise<void> {
  const takers = lenses.flatMap((lens, at) =>
    lens.install === undefined ? [] : [{ lens, host: hosts[at] as LensHost }],
  )
  if (takers.length === 0 || (home === null && plugins.trustedFolder === undefined)) return
  const { warn = (line: string) => process.emitWarning(line), trustedFolder, trust } = plugins
  const { warnings } = await loadPlugins({
    folder: join(home?.folder ?? '', PLUGIN_FOLDER),
    trustFile: join(home?.folder ?? '', TRUST_FILE),
    trustedFolder,
    trust,
    install: exported => offer(exported, takers),
  })
  for (const warning of warnings) warn(warning)
}

interface Taker {
  readonly lens: Lens
  readonly host: LensHost
}

/** Throws the first refusal unless some lens took it. */
function offer(exported: Readonly<Record<string, unknown>>, takers: readonly Taker[]): void {
  const refusals: unknown[] = []
  let isTaken = false
  for (const { lens, host } of takers) {
    try {
      if (lens.install?.(host, exported) !== false) isTaken = true
    } catch (error) {
      refusals.push(error)
    }
  }
  if (!isTaken && refusals.length > 0) throw refusals[0]
}

async function startEmbedder(
  options: EngineOptions,
  config: Config,
  home: Home | null,
): Promise<{ embedder: Embedder | null; error: string | null }> {
  const given = options.embedder
  if (typeof given === 'object' && 'embed' in given) return { embedder: ready(given), error: null }
  try {
    const embedder = await openEmbedder(config.embedder, {
      baseFolder: home?.folder ?? process.cwd(),
      env: process.env,
      start: options.warm === true ? 'now' : 'first-use',
    })
    return { embedder: embedder && ready(embedder), error: null }
  } catch (error) {
    if (error instanceof QuerentError && error.kind !== 'usage') return { embedder: null, error: error.message }
    throw error
  }
}

function ready(embedder: Embedder): Embedder {
  return cacheQueries(checkEmbedder(embedder), QUERY_CACHE)
}

function indexMakers(
  store: Store,
  embedder: Embedder | null,
  registry: LensRegistry,
): ReadonlyMap<string, () => Index> {
  const makers: (() => Index)[] = [() => openWordIndex()]
  if (embedder !== null) {
    const model = modelKey(embedder.model)
    makers.push(() =>
      openVectorIndex({
        model,
        dimensions: embedder.model.dimensions,
        source: chunks => store.vectorsOnly(model, chunks),
      }),
    )
  }
  makers.push(...registry.all.flatMap(lens => lens.indexes ?? []))
  makers.push(...registry.all.flatMap(lens => (lens.pointIndexes ?? []).map(points => () => openPointIndex(points))))
  makers.push(...registry.all.flatMap(lens => (lens.linkIndexes ?? []).map(links => () => openLinkIndex(links))))
  return new Map(makers.map(make => [make().name, make]))
}

/** In reverse order of opening; goes on when one fails, then throws the first failure. */
async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of [...closers].reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
