/** Builds the page when its sources are newer, once for all processes that test it at the same time. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = join(root, 'explorer')
const built = join(root, 'dist/explorer')

/** A build, or an installation of Chromium, takes no longer. */
const MOST_MS = 120_000

export function buildWhenOlder(): void {
  oneAtATime(() => {
    if (newest(sources) > (timeOf(join(built, 'index.html')) ?? 0)) build()
  })
}

/** One process at a time does what `act` does; the others wait. */
export function oneAtATime<T>(act: () => T): T {
  const lock = join(root, 'node_modules/.explorer-lock')
  while (!taken(lock)) {
    if (Date.now() - (timeOf(lock) ?? Date.now()) > MOST_MS) rmSync(lock, { recursive: true, force: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  try {
    return act()
  } finally {
    rmdirSync(lock)
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

/** Beside, and then in its place: whoever serves the last one meanwhile never sees half of the new one. */
function build(): void {
  const aside = `${built}.${process.pid}`
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const { status, stderr } = spawnSync(
    process.execPath,
    [vite, 'build', 'explorer', '--logLevel', 'error', '--outDir', aside],
    { cwd: root, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the explorer cannot be built: ${stderr}`)
  rmSync(built, { recursive: true, force: true })
  renameSync(aside, built)
}

function newest(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...names.map(name => statSync(join(folder, name)).mtimeMs))
}

function timeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}
