/** The home: the folder `.querent` that holds a store and its snapshots; it is searched for from the working folder upwards. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { sha256 } from '../base/canonical.ts'
import { Turns } from '../base/turns.ts'
import { QuerentError } from '../model/errors.ts'
import type { FileProblem, LeftOut, Workspace, WorkspaceFile } from '../model/workspace.ts'

export const HOME_FOLDER = '.querent'
export const STORE_FILE = 'store.db'

export interface Home {
  readonly folder: string
  readonly storeFile: string
  readonly indexFolder: string
  readonly configFile: string
}

export interface HomeRequest {
  /** Path of the home given by the caller; takes precedence over the environment and over searching. */
  readonly home?: string | undefined
  /** Path of the home from the environment variable QUERENT_HOME. */
  readonly environmentHome?: string | undefined
  readonly workingFolder: string
  /**
   * Whether to create the home if it does not exist: at the path that the caller or the environment names, otherwise as `.querent` in the
   * working folder.
   */
  readonly create: boolean
}

/**
 * Finds the home: at the named path, otherwise in the working folder or the nearest folder above it. Creates one if there is none and that
 * is allowed, otherwise throws `store_missing`.
 */
export function findHome(request: HomeRequest): Home {
  const named = request.home ?? request.environmentHome
  const found = named === undefined ? searchUpwards(request.workingFolder) : resolve(request.workingFolder, named)
  if (found !== undefined && holdsStore(found)) {
    const emptied = lostStore(found)
    if (emptied !== null) throw emptied
    return home(found)
  }
  const lost = lostStore(found ?? join(request.workingFolder, HOME_FOLDER))
  if (lost !== null) throw lost
  if (!request.create) {
    const where = found ?? request.workingFolder
    throw new QuerentError(
      'store_missing',
      named === undefined
        ? `home: no ${HOME_FOLDER} in ${where} or above it; run \`querent init\` or \`querent add <folder>\``
        : `home: no store in ${where}; run \`querent init --home ${named}\``,
      { home: where },
    )
  }
  const folder = found ?? join(request.workingFolder, HOME_FOLDER)
  try {
    makeFolder(folder)
  } catch (error) {
    throw new QuerentError('io_failed', `home: cannot make ${folder}: ${reasonOf(error)}`, { path: folder }, error)
  }
  return home(folder)
}

/**
 * The reason why no new store may be created in this home (the folder of a store); null if one may. A home with index snapshots but with a
 * missing or empty store has lost its store, because snapshots are written only for a store that has contents.
 */
export function lostStore(folder: string): QuerentError | null {
  const { storeFile, indexFolder } = home(folder)
  const size = statSync(storeFile, { throwIfNoEntry: false })?.size
  if (size !== undefined && size > 0) return null
  // The write-ahead log beside the store file holds data, so the store is not lost although its file is empty or missing.
  if ((statSync(`${storeFile}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return null
  if (!isFolder(indexFolder) || !readdirSync(indexFolder).some(name => name.endsWith('.snapshot'))) return null
  const what = size === undefined ? `${STORE_FILE} is gone` : `${STORE_FILE} is empty`
  const message = `home: ${what} in ${folder}, but snapshots of its indexes exist: the store was lost, and no new one is made in its place. Put a backup there as ${STORE_FILE}, or remove the folder ${indexFolder} to begin with an empty store`
  return new QuerentError('store_corrupt', message, { home: folder })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether this folder is a home, that is, contains a store file. */
export function holdsStore(folder: string): boolean {
  return existsSync(join(folder, STORE_FILE))
}

/**
 * Creates the home folder for this user only, and excludes it from version control. The contents of an existing folder stay as they are;
 * another process may create the folder at the same moment.
 */
function makeFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true })
  if (isMade(() => mkdirSync(folder, { mode: 0o700 }))) {
    isMade(() => writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' }))
  }
  mkdirSync(join(folder, 'index'), { recursive: true })
}

/** Runs `make`, which creates a file or folder; false if the file or folder existed already. Other errors are thrown. */
function isMade(make: () => void): boolean {
  try {
    make()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function home(folder: string): Home {
  return {
    folder,
    storeFile: join(folder, STORE_FILE),
    indexFolder: join(folder, 'index'),
    configFile: join(folder, 'config.json'),
  }
}

/** Searches this folder and its parents upwards; returns the nearest home (a `.querent` folder) that holds a store. */
export function searchUpwards(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, HOME_FOLDER)
    if (holdsStore(candidate)) return candidate
    if (folder === dirname(folder)) return undefined
  }
}

/** Size in bytes above which a workspace file is reported as too large instead of being read. */
const MAX_BYTES = 10 * 1024 * 1024

/** Opens the folder that contains the home; its files are the workspace that may be read into the store. */
export function openWorkspace(home: Home): Workspace {
  return new DiskWorkspace(dirname(home.folder), home.storeFile)
}

class DiskWorkspace implements Workspace {
  readonly url: string
  readonly storeFile: string
  readonly #folder: string

  constructor(folder: string, storeFile: string) {
    this.#folder = folder
    this.storeFile = storeFile
    this.url = pathToFileURL(folder).href
  }

  urlOf(path: string): string {
    if (path.startsWith('file://')) return path
    return pathToFileURL(isAbsolute(path) ? resolve(path) : resolve(this.#folder, path)).href
  }

  async read(url: string): Promise<WorkspaceFile> {
    const failed = (code: FileProblem, message: string): WorkspaceFile => ({ ok: false, url, code, message })
    const path = pathOf(url)
    if (path === null || !isInside(path, this.#folder)) return failed('outside', 'file lies outside of the workspace')
    try {
      const real = await realpath(path)
      if (!isInside(real, await realpath(this.#folder))) return failed('outside', 'file lies outside of the workspace')
      const facts = await stat(real)
      const { size, mtimeMs } = facts
      if (!facts.isFile()) return failed('unreadable', 'not a file')
      if (size > MAX_BYTES) return failed('too_large', `file is larger than ${MAX_BYTES} bytes`)
      const [bytes, { decodeInSteps }] = await Promise.all([readFile(real), import('../ingest/read-file.ts')])
      const modifiedAt = Math.trunc(mtimeMs)
      const text = await new Turns().run(decodeInSteps(bytes))
      return { ok: true, url, hash: sha256(bytes), size: bytes.length, modifiedAt, text }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return failed('not_found', 'file is gone')
      return failed('unreadable', `file cannot be read (${code ?? 'unknown'})`)
    }
  }

  async mark(url: string, signal: AbortSignal): Promise<string> {
    const { markOf } = await import('../ingest/walk.ts')
    return markOf({ folder: this.#folder, path: fileURLToPath(url) }, { turns: new Turns(), signal })
  }

  async *list(path: string | null, signal: AbortSignal, leftOut?: (file: LeftOut) => void): AsyncIterable<string> {
    const start = pathOf(this.urlOf(path ?? '.'))
    if (start === null || !isInside(start, this.#folder)) return
    const home = join(this.#folder, HOME_FOLDER)
    if (isInside(start, home)) return leftOut?.({ url: pathToFileURL(start).href, reason: 'excluded' })
    // The module is imported at its first use, because most processes only run queries and never read files.
    const { walk } = await import('../ingest/walk.ts')
    for await (const file of walk(this.#folder, signal, start)) {
      if (isInside(file.path, home)) continue
      const url = pathToFileURL(file.path).href
      if (file.kind === 'file') yield url
      else leftOut?.({ url, reason: file.kind === 'skipped' ? file.reason : 'unreadable' })
    }
  }
}

function pathOf(url: string): string | null {
  try {
    return fileURLToPath(url)
  } catch {
    return null
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM') return 'you have no permission to write there'
  if (code === 'EROFS') return 'the disk is read-only'
  if (code === 'ENOSPC') return 'the disk is full'
  return error instanceof Error ? error.message : String(error)
}

/** The version of this package, read from its manifest. */
export const VERSION: string = readVersion()

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
