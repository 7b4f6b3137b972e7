/** The `querent` command as users have it, in few files, made from the sources as they are now. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWhenOlder } from './build-once.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.test-package')
const SOURCES = [
  'src',
  'bin',
  'package.json',
  'package-lock.json',
  'scripts/test-package.ts',
  'scripts/bundle-command.ts',
]

/** The script that Node starts. Builds it first when a source is newer. */
export function builtCommand(): string {
  const sources = SOURCES.map(name => join(root, name))
  buildWhenOlder({ folder, sources, mark: 'dist/command/LICENCES', build })
  return join(folder, 'bin/querent.js')
}

function build(aside: string): void {
  const script = join(root, 'scripts/test-package.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, aside], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the command cannot be built: ${stderr}`)
}
