/**
 * Loads enrichment plugins of the lens `c64` from folders: each file named `*_enrichment.ts` or `*_enrichment.js` contains one. Files are
 * trusted by the same rules as every plug-in. A file without a plugin causes a warning; two plugins with the same name are an error.
 */
import { realpathSync } from 'node:fs'
import { loadPlugins, type PluginReport } from '../engine/plugins.ts'
import { type EnrichmentPlugin, inOrder, NO_PLUGIN, PLUGIN_FILE, pluginIn } from '../lenses/c64/enrichment/plugin.ts'
import { QuerentError } from '../model/errors.ts'

export interface EnrichmentPluginRequest {
  /** Plugins that are part of the program and are not loaded from files. */
  readonly builtIn?: readonly EnrichmentPlugin[] | undefined
  /** Folders of plugins; a file in them is loaded only if a user has trusted it. The folders need not exist. */
  readonly folders?: readonly string[] | undefined
  /** Folders of plugins that are loaded without asking a user. The folders must exist. */
  readonly trustedFolders?: readonly string[] | undefined
  /**
   * Path of the file that records which plugin files a user has trusted; it must be outside all the folders. Needed when there are
   * `folders`.
   */
  readonly trustFile?: string | undefined
  /** Asks the user whether a plugin file may be loaded; absent where there is no terminal. */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
}

export interface EnrichmentPlugins extends PluginReport {
  /** All loaded plugins, in the order in which they run. */
  readonly plugins: readonly EnrichmentPlugin[]
}

/**
 * Loads the plugins from all folders. Throws `conflict` when two plugins have the same name, and `invalid_argument` when there are
 * `folders` but no `trustFile`.
 */
export async function loadEnrichmentPlugins(request: EnrichmentPluginRequest): Promise<EnrichmentPlugins> {
  const { folders = [], trustedFolders = [], trustFile = '', trust } = request
  if (folders.length > 0 && trustFile === '') {
    throw new QuerentError('invalid_argument', 'trustFile: must be a path when there are folders of plugins', {
      field: 'trustFile',
      value: trustFile,
      expected: 'a path',
    })
  }
  const plugins = [...(request.builtIn ?? [])]
  const sources = new Map(plugins.map(plugin => [plugin.name, 'the built-in ones']))
  const clashes: Clash[] = []
  const install = (exported: Readonly<Record<string, unknown>>, file: string): void => {
    const plugin = pluginOf(exported)
    const other = sources.get(plugin.name)
    if (other !== undefined) clashes.push({ name: plugin.name, other, file })
    sources.set(plugin.name, file)
    plugins.push(plugin)
  }
  const reports: PluginReport[] = []
  const trusted = new Set(trustedFolders.map(folder => realFolder(folder)))
  for (const folder of trustedFolders) {
    reports.push(await loadPlugins({ folder, trustedFolder: folder, names: PLUGIN_FILE, trustFile, install }))
  }
  for (const folder of folders.filter(each => !trusted.has(realFolder(each)))) {
    reports.push(await loadPlugins({ folder, names: PLUGIN_FILE, trustFile, trust, install }))
  }
  assertDifferent(clashes)
  return {
    plugins: inOrder(plugins),
    loaded: reports.flatMap(report => report.loaded),
    warnings: reports.flatMap(report => report.warnings),
  }
}

interface Clash {
  readonly name: string
  readonly other: string
  readonly file: string
}

function assertDifferent([clash]: readonly Clash[]): void {
  if (clash === undefined) return
  const message = `plugin ${clash.file}: the name "${clash.name}" is taken by ${clash.other}; rename or remove one`
  throw new QuerentError('conflict', message, { plugin: clash.name, file: clash.file })
}

function pluginOf(exported: Readonly<Record<string, unknown>>): EnrichmentPlugin {
  const plugin = pluginIn(exported)
  if (plugin === null) throw new Error(NO_PLUGIN)
  return plugin
}

/** The folder's path with symbolic links resolved; the path as given where the folder does not exist. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
