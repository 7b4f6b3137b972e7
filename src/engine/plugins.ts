/**
 * Plug-ins: ES modules in a folder of the home. A plug-in is code that runs with all rights of this process, so one is
 * loaded only when somebody said that it may be: now, on a terminal; before, for exactly these bytes; or for its folder.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { sha256 } from '../base/canonical.ts'
import { QuerentError } from '../model/errors.ts'
import { rememberTrust, trustedPlugins } from './plugin-trust.ts'

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
