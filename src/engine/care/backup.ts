/** A copy of the home's store, and what of the home is not in it. */
import { existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { BackupRequest } from '../../model/care-input.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import { copyStore } from '../../store/care/copy-store.ts'
import type { Backup } from '../engine.ts'
import { TRUST_FILE } from '../plugin-trust.ts'
import { PLUGIN_FOLDER } from '../plugins.ts'

export interface BackupPlace {
  readonly storeFile: string | null
  readonly home: string | null
}

export async function backUp(
  { to, overwrite }: BackupRequest,
  { storeFile, home }: BackupPlace,
  { signal, report }: CallContext,
): Promise<Backup> {
  if (storeFile === null || home === null) {
    throw invalidArgument('to', to, 'a store on disk to copy: this one is in memory, or not in a home; use `export`')
  }
  // Relative to what? The working folder of a server is nobody's business.
  if (!isAbsolute(to)) throw invalidArgument('to', to, 'an absolute path')
  const copy = await copyStore({
    from: storeFile,
    to,
    overwrite,
    report: (done, total) => {
      signal.throwIfAborted()
      report?.({ phase: 'copying', done, total })
    },
  })
  return { ...copy, not_held: besides(home) }
}

/** Everything in a home but the store and what is derived from it. */
function besides(home: string): readonly string[] {
  const folder = join(home, PLUGIN_FOLDER)
  const plugins = existsSync(folder) && readdirSync(folder).length > 0 ? [PLUGIN_FOLDER] : []
  return [...['config.json', TRUST_FILE].filter(name => existsSync(join(home, name))), ...plugins]
}
