/** What several processes of tests need built is built by one of them, when its sources are newer. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A build, or an installation of Chromium or of a ChromaDB server, takes no longer. */
const MAX_MS = 300_000

export interface Built {
  /** Absolute. */
  readonly folder: string
  /** Files and folders that it is made from. */
  readonly sources: readonly string[]
  /** A file in the folder that the build writes. */
  readonly mark: string
  /** Makes the folder at another place. */
  readonly build: (folder: string) => void
}

export function buildWhenOlder({ folder, sources, mark, build }: Built): void {
  if (isNew()) return
  oneAtATime(() => {
    if (isNew()) return
    // Beside, and then in its place: whoever uses the last one meanwhile never sees half of the new one.
    const aside = `${folder}.${process.pid}`
    const begun = new Date()
    build(aside)
    utimesSync(join(aside, mark), begun, begun) // what changed since then may be missing in it
    rmSync(folder, { recursive: true, force: true })
    renameSync(aside, folder)
  })

  function isNew(): boolean {
    return (timeOf(join(folder, mark)) ?? 0) >= Math.max(...sources.map(newest))
  }
}

/** One process at a time does what `act` does; the others wait. */
export function oneAtATime<T>(act: () => T): T {
  const lock = join(root, 'node_modules/.test-build-lock')
  while (!taken(lock)) {
    if (Date.now() - (timeOf(lock) ?? Date.now()) > MAX_MS) rmSync(lock, { recursive: true, force: true })
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

/** Of a folder and all in it, or of a file. */
function newest(path: string): number {
  const info = statSync(path)
  if (!info.isDirectory()) return info.mtimeMs
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return Math.max(info.mtimeMs, ...names.map(name => statSync(join(path, name)).mtimeMs))
}

function timeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
}
