/** Installs the peers, and says of each that is not there why. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** Packages that could not be installed, by name; empty when all are there. */
export function installPeers(): ReadonlyMap<string, string> {
  if (!isInstalled()) {
    console.error('installing the peers (npm ci in bench/peers, some 1.3 GB), once …')
    npm(['ci', '--include=optional'])
  }
  const missing = wanted().filter(name => !isThere(name))
  return new Map(missing.map(name => [name, whyNot(name)]))
}

/** npm writes the inner lock file last. */
function isInstalled(): boolean {
  const [inner, outer] = ['node_modules/.package-lock.json', 'package-lock.json'].map(name => join(folder, name))
  return existsSync(inner as string) && versionsIn(inner as string) === versionsIn(outer as string)
}

/** Versions of the dependencies that the package file names. */
function versionsIn(path: string): string {
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version?: string }> }
  return JSON.stringify(wanted().map(name => packages[`node_modules/${name}`]?.version))
}

function wanted(): readonly string[] {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return Object.keys({ ...dependencies, ...optionalDependencies })
}

function isThere(name: string): boolean {
  return existsSync(join(folder, 'node_modules', name, 'package.json'))
}

/** npm leaves out silently what is optional and fails: asked for by name, it says why. */
function whyNot(name: string): string {
  const { status, stderr } = npm(['install', '--no-save', '--no-package-lock', name])
  if (status === 0 && isThere(name)) return 'npm installed it only when asked for it alone: run this again'
  const lines = stderr.split('\n').filter(line => /npm error/.test(line) && line.length > 12)
  return lines.slice(0, 3).join(' ').slice(0, 300) || `npm ended with ${status}`
}

function npm(args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  const { status, stderr, error } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 600_000,
  })
  return { status, stderr: `${error?.message ?? ''}${stderr ?? ''}` }
}
