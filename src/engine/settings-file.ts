/** `config.json` of a home, read and changed by whoever owns the home. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { JsonObject } from '../base/canonical.ts'
import { BUILT_IN_LENSES } from '../lenses/registry.ts'
import { QuerentError } from '../model/errors.ts'
import { parseInput } from '../model/parse-input.ts'
import { fileSchema } from './config.ts'

/** Its text, `{}` where there is no file, and its value. Throws `invalid_json`. */
export function readSettings(file: string): { readonly text: string; readonly value: JsonObject } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}\n'
  try {
    return { text, value: JSON.parse(text) as JsonObject }
  } catch (error) {
    throw new QuerentError('invalid_json', `config.json: ${String(error)}`, { path: file }, error)
  }
}

/**
 * Replaces the file by this text, in one step, for this user alone. Throws `invalid_argument` naming the setting that an
 * engine would refuse; then the file is as it was.
 */
export async function writeSettings(file: string, text: string): Promise<void> {
  const { lenses = {} } = parseInput(fileSchema, JSON.parse(text), 'config.json')
  for (const [name, given] of Object.entries(lenses)) {
    const found = BUILT_IN_LENSES.find(lens => lens.name === name)
    // A lens of a plug-in checks its own when it is loaded.
    if (found !== undefined) (await found.load()).settings?.(given, {})
  }
  const beside = `${file}.${process.pid}.new`
  writeFileSync(beside, text, { mode: 0o600, flush: true })
  renameSync(beside, file)
}
