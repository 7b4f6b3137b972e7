/**
 * Plug-ins: ES modules in a folder of the home. A plug-in is code with all rights of this process, so it is loaded only if somebody allowed
 * that: now, on a terminal; earlier, for exactly these bytes; or for its whole folder.
 */

import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { sha256 } from '../base/canonical.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
import { QuerentError } from '../model/errors.ts'
import type { Home } from './home.ts'
import type { PluginOptions } from './options.ts'

export const PLUGIN_FOLDER = 'plugins'

export interface PluginRequest {
  /** Path of the folder with the plug-ins, `<home>/plugins`; the folder need not exist. */
  readonly folder: string
  /**
   * Pattern of the file names that count as plug-ins. Default: all JavaScript modules, and TypeScript files whose name ends in
   * `_enrichment.ts`.
   */
  readonly names?: RegExp | undefined
  /** Path of the file that records which plug-in files were trusted, by path and SHA-256. */
  readonly trustFile: string
  /** A folder whose plug-ins are all loaded without asking, from the option `--trust-plugins <dir>`; no trust is recorded for them. */
  readonly trustedFolder?: string | undefined
  /** Asks the user whether a plug-in file may be loaded; absent if there is no terminal to ask on. */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
  /** Receives the exports of a plug-in module and installs them; throws an error that says what is wrong with the exports. */
  readonly install: (exported: Readonly<Record<string, unknown>>, file: string) => void
}

export interface PluginReport {
  /** Plug-in files that were loaded, ordered by name. */
  readonly loaded: readonly string[]
  /** The reasons why the other plug-in files were not loaded, one line for each. */
  readonly warnings: readonly string[]
}

interface PluginFile {
  readonly file: string
  readonly hash: string
}

/**
 * Time limit in milliseconds for loading a plug-in module: a module whose top-level code never finishes must not keep the engine from
 * opening.
 */
const LOAD_MS = 10_000
const MODULES = /\.m?js$|_enrichment\.ts$/

export async function loadPlugins(request: PluginRequest): Promise<PluginReport> {
  const loaded: string[] = []
  const warnings: string[] = []
  const load = async (plugin: PluginFile): Promise<void> => {
    try {
      request.install(await exportsOf(plugin), plugin.file)
      loaded.push(plugin.file)
    } catch (error) {
      warnings.push(`plug-in ${plugin.file} was skipped: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const names = request.names ?? MODULES
  const trusted = request.trustedFolder === undefined ? [] : filesIn(request.trustedFolder, names, true)
  for (const plugin of trusted) await load(plugin)
  for (const plugin of filesIn(request.folder, names, false)) {
    if (trusted.some(({ file }) => file === plugin.file)) continue
    const refusal = await refusalOf(plugin, request)
    if (refusal === null) await load(plugin)
    else warnings.push(refusal)
  }
  return { loaded, warnings }
}

/**
 * Decides whether a plug-in file may be loaded, and asks the user if there is a way to ask. Returns the reason why it may not be loaded;
 * null if it may.
 */
async function refusalOf({ file, hash }: PluginFile, request: PluginRequest): Promise<string | null> {
  const known = trustedPlugins(request.trustFile)
  if (known.get(file) === hash) return null
  const state = known.has(file) ? 'has changed since it was trusted' : 'is not trusted'
  if (request.trust === undefined) {
    return `plug-in ${file} ${state} and was skipped; name its folder with --trust-plugins to load it`
  }
  if (!(await request.trust(file))) return `plug-in ${file} ${state} and was skipped`
  rememberTrust(request.trustFile, file, hash)
  return null
}

/** Plug-in files in a folder, ordered by name. Paths are resolved, so that a symbolic link is trusted as its target. */
function filesIn(folder: string, wanted: RegExp, mustExist: boolean): readonly PluginFile[] {
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if (!mustExist) return []
    throw new QuerentError('io_failed', `plugins: cannot read ${folder}: ${String(error)}`, { path: folder }, error)
  }
  return names
    .filter(name => wanted.test(name))
    .sort()
    .map(name => {
      const file = realpathSync(join(folder, name))
      return { file, hash: sha256(readFileSync(file)) }
    })
}

async function exportsOf({ file, hash }: PluginFile): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(file)
  // The hash of the file in the import URL makes Node load a changed plug-in file as a new module, rather than reuse the cached one.
  url.search = `sha256=${hash}`
  const late = new AbortController()
  const timeout = wait(LOAD_MS, undefined, { signal: late.signal, ref: false }).then(() => {
    throw new Error(`it did not finish loading in ${LOAD_MS / 1_000} s`)
  })
  try {
    return await Promise.race([import(url.href) as Promise<Record<string, unknown>>, timeout])
  } finally {
    late.abort()
    timeout.catch(() => {})
  }
}

/** Name of the file in the home that records which plug-in files were trusted, by path and SHA-256. */
export const TRUST_FILE = 'trusted-plugins.json'

const schema = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))

/** SHA-256 hashes of trusted plug-in files by path, read from the trust file. If that file cannot be read, no plug-in is trusted. */
export function trustedPlugins(trustFile: string): ReadonlyMap<string, string> {
  if (!existsSync(trustFile)) return new Map()
  try {
    return new Map(Object.entries(schema.parse(JSON.parse(readFileSync(trustFile, 'utf8')))))
  } catch {
    return new Map()
  }
}

export function rememberTrust(trustFile: string, file: string, hash: string): void {
  const all = Object.fromEntries(
    [...trustedPlugins(trustFile), [file, hash] as const].sort(([a], [b]) => (a < b ? -1 : 1)),
  )
  try {
    // The trust file is replaced atomically by a rename, so that a reader never sees half a file.
    writeFileSync(`${trustFile}.new`, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${trustFile}.new`, trustFile)
  } catch (error) {
    const message = `plugins: cannot remember trust in ${trustFile}: ${String(error)}`
    throw new QuerentError('io_failed', message, { path: trustFile }, error)
  }
}

/** Plug-ins in the home's plug-in folder: each module is offered to every lens that accepts plug-ins. */
export interface HostedLens {
  readonly lens: Lens
  readonly host: LensHost
}

export interface OfferedLenses {
  readonly hosted: readonly HostedLens[]
  /** Whether `hosted` contains every lens that accepts plug-ins; false if some of these lenses were not loaded. */
  readonly areAll: boolean
}

/**
 * Loads the plug-in modules of the home and installs them in the lenses that accept them. A module that a lens rejects, or that no lens
 * accepts although all are loaded, is skipped with a warning.
 */
export async function installPlugins(
  { hosted, areAll }: OfferedLenses,
  home: Home | null,
  { trustedFolder, trust, warn = line => process.emitWarning(line) }: PluginOptions = {},
): Promise<void> {
  const installers = hosted.filter(({ lens }) => lens.install !== undefined)
  if (installers.length === 0 || (home === null && trustedFolder === undefined)) return
  const { warnings } = await loadPlugins({
    folder: join(home?.folder ?? '', PLUGIN_FOLDER),
    trustFile: join(home?.folder ?? '', TRUST_FILE),
    trustedFolder,
    trust,
    install: (exported, file) => offer({ exported, file }, installers, areAll),
  })
  for (const warning of warnings) warn(warning)
}

interface Module {
  readonly exported: Readonly<Record<string, unknown>>
  readonly file: string
}

/**
 * Offers the exports of a plug-in module to all lenses that accept plug-ins. If none accepts the module, throws an error with the reasons.
 */
function offer({ exported, file }: Module, installers: readonly HostedLens[], areAll: boolean): void {
  const refusals: string[] = []
  let isTaken = false
  for (const { lens, host } of installers) {
    try {
      if (lens.install?.(host, exported, file) === true) isTaken = true
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error))
    }
  }
  if (isTaken) return
  if (refusals.length > 0) throw new Error(refusals.join('; '))
  // If some lenses are not loaded, a plug-in that no loaded lens accepts is no error, because it may be meant for one of the others.
  if (areAll) throw new Error(`expected the module to export ${installers.map(({ lens }) => lens.takes).join(', or ')}`)
}
