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

/** A module that no lens takes and some refuse is skipped with a warning. */
export async function installPlugins(
  hosted: readonly HostedLens[],
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
    install: exported => offer(exported, takers),
  })
  for (const warning of warnings) warn(warning)
}

/** Throws the first refusal unless some lens took it. */
function offer(exported: Readonly<Record<string, unknown>>, takers: readonly HostedLens[]): void {
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
