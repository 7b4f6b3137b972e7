/** Lets lenses see the files of the folder a store belongs to, and none beyond it. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { sha256 } from '../base/canonical.ts'
import { Turns } from '../base/turns.ts'
import type { FileProblem, LeftOut, Workspace, WorkspaceFile } from '../model/workspace.ts'
import { HOME_FOLDER, type Home } from './home.ts'

/** Larger files are told of, not read. */
const MOST_BYTES = 10 * 1024 * 1024

/** The folder that the home stands in. */
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
      if (size > MOST_BYTES) return failed('too_large', `file is larger than ${MOST_BYTES} bytes`)
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

  async *list(path: string | null, signal: AbortSignal, leftOut?: (file: LeftOut) => void): AsyncIterable<string> {
    const start = pathOf(this.urlOf(path ?? '.'))
    if (start === null || !isInside(start, this.#folder)) return
    const home = join(this.#folder, HOME_FOLDER)
    if (isInside(start, home)) return leftOut?.({ url: pathToFileURL(start).href, reason: 'excluded' })
    // Loaded when used: most processes only ask.
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
