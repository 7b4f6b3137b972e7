/** Takes what a plug-in module exports: `profiles` by name, `extensions` as a list, at least one of them. */
import { isRecord } from '../../../base/record.ts'
import { PluginError } from '../errors.ts'
import type { Extensions } from './extensions.ts'
import type { ProfileHooks } from './query-profile.ts'
import type { Profiles } from './registry.ts'
import type { SchemaExtension } from './schema-extension.ts'

export interface PluginHost {
  readonly profiles: Pick<Profiles, 'register' | 'savepoint'>
  readonly extensions: Pick<Extensions, 'register' | 'savepoint'>
}

/** Whether a module exports anything that is taken here. */
export function isPlugin({ profiles, extensions }: Readonly<Record<string, unknown>>): boolean {
  return profiles !== undefined || extensions !== undefined
}

/** Throws `PluginError` and leaves nothing behind when any part is refused. */
export function installPlugin(exported: Readonly<Record<string, unknown>>, host: PluginHost): void {
  const { profiles, extensions } = exported
  if (!isPlugin(exported)) throw wrong('profiles', '`profiles` or `extensions`')
  if (profiles !== undefined && !isRecord(profiles)) throw wrong('profiles', '`profiles` as an object by name')
  if (extensions !== undefined && !Array.isArray(extensions)) throw wrong('extensions', '`extensions` as a list')
  const undo = [host.profiles.savepoint(), host.extensions.savepoint()]
  try {
    for (const extension of extensions ?? []) host.extensions.register(extension as SchemaExtension)
    for (const [name, profile] of Object.entries(profiles ?? {})) host.profiles.register(name, profile as ProfileHooks)
  } catch (error) {
    for (const step of undo) step()
    throw error
  }
}

function wrong(field: string, expected: string): PluginError {
  return new PluginError('invalid_plugin', `plug-in: expected the module to export ${expected}`, { field })
}
