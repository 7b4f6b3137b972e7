/** Plug-ins of the home, offered to each lens that takes any. */
import { join } from 'node:path'
import type { Lens, LensHost } from '../lenses/lens.ts'
import type { Home } from './home.ts'
import type { PluginOptions } from './options.ts'
import { TRUST_FILE } from './plugin-trust.ts'
import { loadPlugins, PLUGIN_FOLDER } from './plugins.ts'

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
  const takers = hosted.filter(({ lens }) => lens.install !== undefined)
  if (takers.length === 0 || (home === null && trustedFolder === undefined)) return
  const { warnings } = await loadPlugins({
    folder: join(home?.folder ?? '', PLUGIN_FOLDER),
    trustFile: join(home?.folder ?? '', TRUST_FILE),
    trustedFolder,
    trust,
    install: (exported, file) => offer({ exported, file }, takers, areAll),
  })
  for (const warning of warnings) warn(warning)
}

interface Module {
  readonly exported: Readonly<Record<string, unknown>>
  readonly file: string
}

/** Throws what the lenses say against a module that none of them took. */
function offer({ exported, file }: Module, takers: readonly HostedLens[], areAll: boolean): void {
  const refusals: string[] = []
  let isTaken = false
  for (const { lens, host } of takers) {
    try {
      if (lens.install?.(host, exported, file) === true) isTaken = true
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error))
    }
  }
  if (isTaken) return
  if (refusals.length > 0) throw new Error(refusals.join('; '))
  // Where only some lenses are open, it may be meant for another.
  if (areAll) throw new Error(`expected the module to export ${takers.map(({ lens }) => lens.takes).join(', or ')}`)
}
