/**
 * Makes a consistent copy of a store file while other processes may write to the store. A file with the copy's final name is either
 * complete or absent.
 */
import { closeSync, existsSync, openSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { openFile, removeStore, storeFiles } from './file.ts'
import { putInPlace, syncFile, unfinishedPath } from './finished-file.ts'
import { isBackup } from './header.ts'

export interface CopyRequest {
  readonly from: string
  readonly to: string
  /**
   * Whether an existing backup at the target is replaced; a file that is no backup is never replaced. Default false: every existing file is
   * refused.
   */
  readonly overwrite?: boolean | undefined
  /** Called from time to time with the number of bytes copied and in total; if it throws, the copy ends. */
  readonly report?: ((done: number, total: number) => void) | undefined
}

export interface StoreCopy {
  readonly path: string
  readonly bytes: number
  readonly entries: number
  /** Number of the newest change in the feed that the copy contains. */
  readonly position: number
}

/**
 * Copies a store file. Throws `invalid_argument`, `conflict`, `io_failed`, or the errors of opening a store; in each case nothing is left
 * of the copy.
 */
export async function copyStore({ from, to, overwrite = false, report }: CopyRequest): Promise<StoreCopy> {
  const path = placeFor(to, from, overwrite)
  assertFreeSpace(from, path)
  const unfinished = unfinishedPath(path)
  try {
    closeSync(io(path, () => openSync(unfinished, 'wx', 0o600)))
    await copyPages(from, unfinished, report)
    const held = finish(unfinished)
    io(path, () => putInPlace(unfinished, path, overwrite))
    return { path, bytes: statSync(path).size, ...held }
  } finally {
    removeStore(unfinished)
  }
}

/**
 * The path of the copy with all symbolic links resolved, so that another name of the store's own file is recognised. Throws where the copy
 * cannot be made at this path.
 */
function placeFor(to: string, from: string, overwrite: boolean): string {
  const folder = io(dirname(to), () => realpathSync(dirname(to)))
  const found = join(folder, basename(to))
  const path = existsSync(found) ? realpathSync(found) : found
  const store = realpathSync(from)
  if (storeFiles(store).includes(path)) {
    throw invalidArgument('to', to, 'another file than the store itself')
  }
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.isDirectory()) throw invalidArgument('to', to, 'a file, and this is a folder: name a file in it')
  if (there !== undefined && !there.isFile()) throw invalidArgument('to', to, 'a file')
  if (there !== undefined && !overwrite) {
    throw new QuerentError('conflict', `${to}: exists already; name another file, or overwrite it (--overwrite)`, {
      path: to,
    })
  }
  if (there !== undefined && !io(to, () => isBackup(path))) {
    const what = 'it is not a backup of Querent, and nothing else is overwritten; name another file'
    throw new QuerentError('conflict', `${to}: ${what}`, { path: to })
  }
  // A log file beside the target's path is refused, since SQLite would take it for the log of the copy.
  const log = [`${path}-wal`, `${path}-journal`].find(file => existsSync(file))
  if (log === undefined) return path
  throw new QuerentError('conflict', `${to}: there is a store of this name in use, or one that crashed (${log})`, {
    path: to,
  })
}

function assertFreeSpace(from: string, path: string): void {
  const log = statSync(`${from}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const needed = io(from, () => statSync(from)).size + log
  const { bavail, bsize } = io(path, () => statfsSync(dirname(path)))
  if (bavail * bsize >= needed) return
  const cause = `needs ${needed} bytes, and ${bavail * bsize} are free`
  throw new QuerentError('io_failed', `${path}: ${cause}`, { path, cause })
}

async function copyPages(from: string, to: string, report: CopyRequest['report']): Promise<void> {
  const db = openFile(from, 'read')
  try {
    const pageSize = db.prepareArrays<[number]>('pragma page_size').get()?.[0] ?? 0
    await db.copyTo(to, (done, total) => report?.(done * pageSize, total * pageSize))
  } finally {
    db.close()
  }
}

/**
 * Opens the finished copy, which proves that it is a store, and leaves it as a single file without a log, written to the disk completely.
 */
function finish(file: string): Pick<StoreCopy, 'entries' | 'position'> {
  const db = openFile(file, 'write')
  try {
    db.exec('pragma synchronous = full; pragma journal_mode = delete')
    const numberOf = (sql: string) => db.prepareArrays<[number | null]>(sql).get()?.[0] ?? 0
    return {
      entries: numberOf('select count(*) from entries not indexed'),
      position: numberOf('select max(seq) from changes'),
    }
  } finally {
    db.close()
    syncFile(file)
  }
}

function io<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const cause = code === 'ENOENT' ? 'there is no such file or folder' : message
    throw new QuerentError('io_failed', `${path}: ${cause}`, { path, cause }, error)
  }
}
