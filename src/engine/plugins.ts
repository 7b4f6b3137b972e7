/**
 * Plug-ins: ES modules in a folder of the home. A plug-in is code that runs with all rights of this process, so one is
 * loaded only when somebody said that it may be: now, on a terminal; before, for exactly these bytes; or for its folder.
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
  /** `<home>/plugins`; need not exist. */
  readonly folder: string
  /** Which files of it are plug-ins; when left out, all modules in JavaScript, and those in TypeScript that say so. */
  readonly names?: RegExp | undefined
  /** Where trust is remembered, by path and hash. */
  readonly trustFile: string
  /** `--trust-plugins <dir>`: everything in it is loaded, nobody is asked, nothing is remembered. */
  readonly trustedFolder?: string | undefined
  /** Asks whether a file may be loaded; absent without a terminal. */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
  /** Takes what a module exports; throws what is wrong with it. */
  readonly install: (exported: Readonly<Record<string, unknown>>, file: string) => void
}

export interface PluginReport {
  /** In order of name. */
  readonly loaded: readonly string[]
  /** Why the others were not; one line each. */
  readonly warnings: readonly string[]
}

interface PluginFile {
  readonly file: string
  readonly hash: string
}

/** A module that never finishes its top level must not keep the engine from opening. */
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

/** Null when it may be loaded. */
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

/** By name. Real paths, so that a link is trusted as what it leads to. */
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
  // A file that changed is another module, not the one that Node remembers.
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

/** Which plug-ins somebody trusted: path and SHA-256 of each, in a file of the home. */
export const TRUST_FILE = 'trusted-plugins.json'

const schema = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))

/** Hash by path. A file that cannot be read as such trusts nothing. */
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
    // Whole or not at all: a reader never sees half a file.
    writeFileSync(`${trustFile}.new`, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${trustFile}.new`, trustFile)
  } catch (error) {
    const message = `plugins: cannot remember trust in ${trustFile}: ${String(error)}`
    throw new QuerentError('io_failed', message, { path: trustFile }, error)
  }
}

/** Plug-ins of the home, offered to each lens that takes any. */
export interface HostedLens {
  readonly lens: Lens
  readonly host: LensHost
}

export interface OfferedLenses {
  readonly hosted: readonly HostedLens[]
  /** Whether no other lens, which was not loaded, takes plug-ins too. */
  readonly areAll: boolean
}

/** A module that some lens refuses, or none of all lenses takes, is skipped with a warning. */
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

/** Throws what the lenses say against a module that none of them took. */
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
  // Where only some lenses are open, it may be meant for another.
  if (areAll) throw new Error(`expected the module to export ${installers.map(({ lens }) => lens.takes).join(', or ')}`)
}
