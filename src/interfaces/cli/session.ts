/** Opens the engine for one command, with the command's flags, and closes it when the command is done. */
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { z } from 'zod'
import type { JsonObject } from '../../base/canonical.ts'
import { type Clock, SettableClock } from '../../base/clock.ts'
import { didYouMean, nearNames } from '../../base/near-names.ts'
import type { Engine } from '../../engine/engine.ts'
import { findHome, HOME_FOLDER, searchUpwards } from '../../engine/home.ts'
import type { EngineOptions, PluginOptions } from '../../engine/options.ts'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { toInstant } from '../../model/instant.ts'
import type { CallContext, Operation, Progress } from '../../model/operation.ts'
import { isHolderName } from '../../model/partition.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { Catalog, EngineOperation } from '../../ops/catalog.ts'
import type { CommonFlags } from './flags.ts'
import { type Cli, confirm, type Io, write } from './io.ts'

export interface Session {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly context: CallContext
  run<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<Engine, Input, Output>,
    input: unknown,
  ): Promise<z.output<Output>>
  /** Runs an operation in its streamed form: yields the pieces of its answer as they are made. */
  stream(operation: EngineOperation, input: unknown): AsyncIterable<JsonObject>
}

export interface SessionOptions {
  /** Whether a missing store is created. */
  readonly create?: boolean
  /** Whether the engine does background work. Short commands leave background work to processes that keep running. */
  readonly background?: boolean
  /** Whether the engine watches added files for changes; the same as the engine option `watchFiles`. */
  readonly watchFiles?: boolean
  /**
   * Whether the command will embed one query, so that the embedding model is loaded while the store is being opened; the engine option
   * `warm`.
   */
  readonly warm?: boolean
  /** Whether the command answers a query; an unknown name of the viewer is then reported. Default: the value of `warm`. */
  readonly isQuery?: boolean
  /** Time limit of the embedder in milliseconds; the same as the engine option `embedderTimeoutMs`. */
  readonly embedderTimeoutMs?: number | undefined
  /** Whether changed files are read before the command runs, if there are only few. */
  readonly readsFiles?: boolean
  readonly report?: ((progress: Progress) => void) | undefined
  /**
   * Whether all reads of the command see the store as its first read saw it, until the command itself writes; suits a command that answers
   * one question and ends.
   */
  readonly keepsState?: boolean
  /** Names of the lenses to load in addition to the default one. Absent: all lenses. */
  readonly onlyLenses?: readonly string[]
  /**
   * Number of processes that serve the same requesters, among which their limits are divided; the same as the engine option `processes`.
   */
  readonly processes?: number | undefined
  /** Function that opens the engine. Default: `openEngine`. */
  readonly open?: ((options: EngineOptions) => Promise<Engine>) | undefined
}

export async function withSession<T>(
  cli: Cli,
  flags: CommonFlags,
  options: SessionOptions,
  body: (session: Session) => Promise<T>,
): Promise<T> {
  const viewer = viewerOf(flags.viewer, cli.io.env['QUERENT_VIEWER'])
  // Loaded here, not with the command line: `--help` and wrong command lines need no engine.
  const { makeCatalog, runOperation, streamOperation } = await import('../../ops/catalog.ts')
  const open = options.open ?? (await import('../../engine/open.ts')).openEngine
  await using engine = await openOrRead(cli, open, engineOptions(cli, flags, options))
  if (options.create === true) saySharedHome(cli, flags)
  else if (flags.viewer !== undefined && (options.isQuery ?? options.warm) === true)
    await sayNewViewer(cli, engine, viewer)
  const context: CallContext = { viewer, signal: cli.signal, report: options.report }
  if (options.readsFiles === true) await engine.readChanges(context)
  return await body({
    engine,
    catalog: makeCatalog(engine),
    context,
    run: (operation, input) => runOperation(operation, engine, input, context),
    stream: (operation, input) => streamOperation(operation, engine, input, context),
  })
}

/**
 * Checks that the files and folders to add exist, before a store is created. Throws `invalid_argument` for a path that does not exist,
 * `io_failed` for one that may not be examined.
 */
export async function assertExists(cli: Cli, paths: readonly string[]): Promise<void> {
  for (const [at, path] of paths.entries()) {
    await stat(resolve(cli.io.workingFolder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
        throw invalidArgument(`paths.${at}`, path, 'the path of an existing file or folder')
      }
      throw new QuerentError('io_failed', `${path}: ${error.message}`, { path, cause: error.code ?? '' }, error)
    })
  }
}

/**
 * Prints which home (folder of the store) is used, if the command line names none and the home was found in a folder above the working
 * folder.
 */
function saySharedHome(cli: Cli, flags: CommonFlags): void {
  const { io } = cli
  if (flags.home !== undefined || io.env['QUERENT_HOME'] || cli.errors !== 'text') return
  const folder = searchUpwards(io.workingFolder)
  if (folder === undefined || folder === join(io.workingFolder, HOME_FOLDER)) return
  void write(io.stderr, `querent: storing in ${folder}; \`querent init\` makes a store for this folder alone\n`)
}

/**
 * Prints a notice if the viewer's name is not that of any agent and holds no entries: anybody may read what is public, but such a name is
 * often a typing error.
 */
async function sayNewViewer({ io, errors }: Cli, engine: Engine, viewer: Viewer): Promise<void> {
  if (isOwner(viewer) || errors !== 'text') return
  const { isAgent } = await import('../../engine/listing.ts')
  if (isAgent(engine.host('default').store, viewer.id)) return
  const text = `holder:"${viewer.id.replaceAll(/["\\]/g, '\\$&')}"`
  if ((await engine.count({ text }, { viewer: LOCAL_OWNER })).count > 0) return
  const { suggestions } = await engine.suggest({ fields: ['holder'], limit: MAX_HOLDERS }, { viewer: LOCAL_OWNER })
  const holders = suggestions.map(({ value }) => value)
  const near = didYouMean(nearNames(viewer.id, holders))
  await write(io.stderr, `querent: ${viewer.id} holds nothing here and sees only what others share${near}\n`)
}

/** Maximum number of holders whose names are compared with an unknown viewer's name. */
const MAX_HOLDERS = 100

/**
 * Opens the engine. If the store's folder (its home) cannot be written, the engine is opened read-only, except by commands whose purpose is
 * to store something.
 */
async function openOrRead(
  cli: Cli,
  open: (options: EngineOptions) => Promise<Engine>,
  options: EngineOptions,
): Promise<Engine> {
  try {
    return await open(options)
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'store_readonly') throw error
    if (options.create === true) {
      const { file } = error.details
      const message = `home: this user cannot write to ${file}, so nothing is stored; --home names another store`
      throw new QuerentError('store_readonly', message, error.details, error)
    }
    const engine = await open({ ...options, create: false, readOnly: true })
    void write(cli.io.stderr, 'querent: the home is read-only here: this use is not counted\n')
    return engine
  }
}

function engineOptions(cli: Cli, flags: CommonFlags, options: SessionOptions): EngineOptions {
  const clock = clockOf(flags.now, cli.io.env['QUERENT_NOW'])
  return {
    ...(flags.home !== undefined && { home: flags.home }),
    create: options.create ?? false,
    background: options.background ?? false,
    warm: options.warm ?? false,
    embedderTimeoutMs: options.embedderTimeoutMs,
    watchFiles: options.watchFiles ?? false,
    onlyLenses: options.onlyLenses,
    keepsState: options.keepsState,
    processes: options.processes,
    // Limits on requesters are switched off for short commands: only the long-running interfaces have requesters from outside.
    ...(options.background !== true && { limits: { enabled: false } }),
    plugins: pluginOptions(cli.io, flags),
    // If a program reads the output, the engine prints no notices, so that standard error has nothing but the command's own errors.
    ...(cli.errors === 'text' && { notice: line => void write(cli.io.stderr, `querent: ${line}\n`) }),
    ...(clock && { clock }),
  }
}

function pluginOptions(io: Io, { trustPlugins }: CommonFlags): PluginOptions {
  const isTerminal = io.stdin.isTTY === true && io.stderr.isTTY === true
  return {
    ...(trustPlugins !== undefined && { trustedFolder: resolve(io.workingFolder, trustPlugins) }),
    ...(isTerminal && {
      trust: file => confirm(io, `Load the plug-in ${file}? It can do everything that you can do.`),
    }),
    warn: line => void write(io.stderr, `querent: ${line}\n`),
  }
}

/**
 * A clock that always shows the time given by flag or environment variable; undefined if neither is given, which means the machine's clock.
 */
export function clockOf(flag: string | undefined, environment: string | undefined): Clock | undefined {
  const moment = flag ?? environment
  return moment ? new SettableClock(toInstant(moment, flag === undefined ? 'QUERENT_NOW' : '--now')) : undefined
}

/**
 * The viewer on whose behalf the command runs: the local owner, or the agent that the environment variable QUERENT_VIEWER names. Only the
 * local owner may name another viewer by a flag; throws `denied` otherwise.
 */
export function viewerOf(flag: string | undefined, environment: string | undefined): Viewer {
  const own = environment ? checked(environment, 'QUERENT_VIEWER') : LOCAL_OWNER
  if (flag === undefined || flag === own.id) return own
  if (!isOwner(own)) {
    throw new QuerentError('denied', '--viewer: only the local owner may act as another viewer', {})
  }
  return checked(flag, '--viewer')
}

/**
 * The home (folder of the store) that the flag or the environment variable names; if neither does, the one found in the working folder or
 * above. Throws if there is none.
 */
export function homeFor({ io }: Cli, { home }: Pick<CommonFlags, 'home'>): ReturnType<typeof findHome> {
  const environmentHome = io.env['QUERENT_HOME'] || undefined
  return findHome({ home, environmentHome, workingFolder: io.workingFolder, create: false })
}

/** Throws `denied` unless the command runs on behalf of the local owner. */
export function requireOwner({ io }: Cli, flags: CommonFlags): void {
  if (isOwner(viewerOf(flags.viewer, io.env['QUERENT_VIEWER']))) return
  throw new QuerentError('denied', 'this is for the local owner only', {})
}

function checked(name: string, field: string): Viewer {
  if (!isHolderName(name)) throw invalidArgument(field, name, 'a name of 1 to 200 characters without blanks')
  return { id: name }
}
