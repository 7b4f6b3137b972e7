/** Other versions of Node, as binaries from the npm registry. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneAtATime } from './build-once.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The newest Node of a major version. The first call installs it under node_modules (110 MB); the next `npm ci` removes it. It appears there
 * only when it is complete, since other tests may look for it while it is being written.
 */
export function nodeOf(major: string): string {
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(root, 'node_modules', `.test-node-${major}`)
  const node = join(folder, 'node_modules', name, 'bin/node')
  if (existsSync(node)) return node
  oneAtATime(() => {
    if (existsSync(node)) return
    const unfinished = `${folder}-unfinished`
    for (const each of [unfinished, folder]) rmSync(each, { recursive: true, force: true })
    mkdirSync(unfinished)
    const quiet = ['--no-save', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', '--prefix', unfinished, ...quiet, `${name}@${major}`], {
      ...{ cwd: unfinished, timeout: 120_000, stdio: ['ignore', 'ignore', 'inherit'] },
    })
    renameSync(unfinished, folder)
  })
  return node
}

/** The Node that runs commands and programs: this one, unless the vitest project names a major version. */
export function commandNode(): string {
  const major = process.env['QUERENT_TEST_NODE']
  return major === undefined ? process.execPath : nodeOf(major)
}
