/** Which plug-ins somebody trusted: path and SHA-256 of each, in a file of the home. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { QuerentError } from '../model/errors.ts'

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
