// The licence of a package that is bundled, under its name: what its licence asks of those who pass it on.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

export function licenceOf(name: string): string {
  const at = join(root, 'node_modules', name)
  const [file] = globSync('{LICENSE,LICENCE,License,license,licence}*', { cwd: at })
  if (file === undefined) throw new Error(`${name} has no licence file`)
  return `${name}\n${'-'.repeat(name.length)}\n${readFileSync(join(at, file), 'utf8').trim()}\n`
}
