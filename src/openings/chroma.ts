/** Opens an engine with only the lens `chroma`, and offers the lens's API for one viewer. */
import { systemClock } from '../base/clock.ts'
import type { Engine } from '../engine/engine.ts'
import { openEngineOf } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import { Chroma } from '../lenses/chroma/chroma.ts'
import { type ChromaLensOptions, chromaLens } from '../lenses/chroma/chroma-lens.ts'
import { resolveSettings, wrong } from '../lenses/chroma/settings.ts'
import { builtInWith } from '../lenses/registry.ts'
import { LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import { openSqliteStore } from '../store/sqlite-store.ts'

export interface OpenChromaOptions extends ChromaLensOptions, Omit<EngineOptions, 'clock'> {
  /** Clock of the lens, a function that returns Unix seconds; default the system's clock. */
  readonly now?: (() => number) | undefined
  /** Viewer for whom the API's calls run; default the local owner. */
  readonly viewer?: Viewer | undefined
}

/**
 * The lens `chroma` with the engine that was opened for it; closing it writes the uses of entries that are still in memory, and closes the
 * engine.
 */
export class OpenChroma extends Chroma implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine, viewer: Viewer) {
    super(engine.host('chroma'), viewer)
    this.engine = engine
  }

  /** The lens's API for another viewer, on the store of this opened lens. */
  as(viewer: Viewer): Chroma {
    return new Chroma(this.engine.host('chroma'), viewer)
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Opens an engine with the lens `chroma`; without options, on the store of the working folder. There is no embedder unless one is given,
 * since the lens searches by colours.
 */
export async function openChroma(options: OpenChromaOptions = {}): Promise<OpenChroma> {
  checkOptions(options)
  const {
    queryConfig,
    memoryConfig,
    vocabularyConfig,
    storageConfig,
    accessUpdates,
    profiles,
    extensions,
    sleep,
    now,
    viewer,
    ...rest
  } = options
  const lens = chromaLens({
    queryConfig,
    memoryConfig,
    vocabularyConfig,
    storageConfig,
    accessUpdates,
    profiles,
    extensions,
    sleep,
  })
  const engine = await openEngineOf(builtInWith(lens), {
    embedder: 'none',
    clock: now === undefined ? systemClock : { now: () => Math.floor(now()) * 1000 },
    ...rest,
    ...storeOf(options),
  })
  return new OpenChroma(engine, viewer ?? LOCAL_OWNER)
}

const OPTIONS: Readonly<Record<keyof OpenChromaOptions, true>> = {
  queryConfig: true,
  memoryConfig: true,
  vocabularyConfig: true,
  storageConfig: true,
  accessUpdates: true,
  profiles: true,
  extensions: true,
  sleep: true,
  now: true,
  viewer: true,
  home: true,
  create: true,
  store: true,
  embedder: true,
  embedderTimeoutMs: true,
  multilingual: true,
  notice: true,
  random: true,
  lenses: true,
  onlyLenses: true,
  keepsState: true,
  plugins: true,
  durability: true,
  readOnly: true,
  background: true,
  watchFiles: true,
  warm: true,
  defaultLens: true,
  limits: true,
  live: true,
  machineTime: true,
  processes: true,
  transport: true,
}

/** Refuses unknown options (CQ-095): a misspelt option would silently have no effect. */
function checkOptions(options: OpenChromaOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name)) throw wrong(name, value, `one of the options ${Object.keys(OPTIONS).join(', ')}`)
  }
  const { now } = options
  if (now !== undefined && typeof now !== 'function') throw wrong('now', now, 'a function that gives Unix seconds')
}

/**
 * The store to open: the one in `storage.db_path`, where environment variables or code set it (a separate file, or `:memory:`); otherwise
 * that of the home.
 */
function storeOf({ store, home, readOnly, storageConfig }: OpenChromaOptions): Pick<EngineOptions, 'store'> {
  if (store !== undefined || (home !== undefined && storageConfig?.dbPath === undefined)) return {}
  const { storage } = resolveSettings({ environment: process.env, constructed: { storageConfig } })
  const { dbPath, cacheSizeMb, walMode } = storage
  if (dbPath === null) return {}
  if (dbPath === ':memory:') return { store: 'memory' }
  return { store: openSqliteStore({ file: dbPath, readOnly, cacheSizeMb, walMode }) }
}
