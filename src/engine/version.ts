/** The version of this package, read from its manifest. */
import { readFileSync } from 'node:fs'

export const VERSION: string = readVersion()

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
