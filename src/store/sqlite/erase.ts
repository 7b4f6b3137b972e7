/**
 * Last step of erasing deleted data: the write-ahead log is emptied, and unused space in the file's pages that still contains bytes is
 * overwritten with zeros. Runs in a separate process (`erase-worker.ts`), since closing a file drops the locks that all connections of a
 * process have on it.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { QuerentError } from '../../model/errors.ts'
import { readSoundMeta, SqliteForgotten, writeMeta } from './changes.ts'
import { foldLog } from './fold-log.ts'
import { openNodeSqlite, type SqlDatabase } from './node-sqlite.ts'

/** Pages overwritten in one write transaction, during which other writers wait: some milliseconds. */
const PAGES_AT_ONCE = 500
const READ_AT_ONCE = 1024 * 1024
/** How long to wait for other writers, in ms; this waiting blocks nobody. */
const WRITERS_MS = 1_000
/** Name of the text in the store's `meta` table that counts the pages overwritten so far. */
const NAME = 'overwritten'

/**
 * Erases from the file everything that was deleted up to `mark`, and records that as done. Returns false where other processes prevented
 * it. `waitMs`: how long writers may be blocked while waiting for readers, in ms. Throws the errors of opening a store and of the file
 * system.
 */
export function eraseInFile(file: string, mark: string, waitMs: number): boolean {
  const handle = openSync(file, 'r+')
  try {
    const db = openNodeSqlite({ file, readOnly: false, immutable: false, timeoutMs: WRITERS_MS })
    try {
      db.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma secure_delete = on')
      return overwriteAll(db, handle, mark, waitMs)
    } catch (error) {
      if (error instanceof QuerentError && error.code === 'store_locked') return false
      throw error
    } finally {
      db.close()
    }
  } finally {
    closeSync(handle)
  }
}

function overwriteAll(db: SqlDatabase, handle: number, mark: string, waitMs: number): boolean {
  if (!empty(db, waitMs)) return false
  const pages = new Pages(handle)
  // The list of pages is made once: what other processes write afterwards leaves bytes only of data deleted after the mark, or in one of
  // these pages.
  const dirty = [...pages.dirty()]
  do {
    if (!isLogEmpty(db) && !empty(db, waitMs)) return false
    const some = dirty.splice(0, PAGES_AT_ONCE)
    if (!overwrite(db, pages, some, dirty.length === 0 ? mark : null)) return false
  } while (dirty.length > 0)
  return true
}

/**
 * Overwrites unused space of some pages in a write transaction, so that nobody else writes. It requires an empty write-ahead log, since
 * then nothing is folded into the file meanwhile and the overwritten space is really unused. The transaction also changes a row, so that
 * other processes discard their cached pages instead of writing them back.
 */
function overwrite(db: SqlDatabase, pages: Pages, some: readonly number[], mark: string | null): boolean {
  return db.write(() => {
    if (!isLogEmpty(db)) return false
    const overwritten = some.filter(page => pages.overwrite(page)).length
    pages.sync()
    writeMeta(db, NAME, String(Number(readSoundMeta(db, NAME) ?? 0) + overwritten))
    if (mark !== null) new SqliteForgotten(db).settle(mark)
    return true
  })
}

function empty(db: SqlDatabase, waitMs: number): boolean {
  try {
    return foldLog(db, { how: 'empty', waitMs })
  } finally {
    db.exec(`pragma busy_timeout = ${WRITERS_MS}`)
  }
}

function isLogEmpty(db: SqlDatabase): boolean {
  return (statSync(db.logFile, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** The pages of a SQLite file, numbered from 0. */
class Pages {
  readonly #handle: number
  readonly #size: number
  readonly #usable: number

  constructor(handle: number) {
    this.#handle = handle
    const header = Buffer.alloc(100)
    readSync(handle, header, 0, header.length, 0)
    const size = header.readUInt16BE(16)
    this.#size = size === 1 ? 65_536 : size
    this.#usable = this.#size - header.readUInt8(20)
  }

  /** Numbers of the pages whose unused space contains bytes other than zero. */
  *dirty(): IterableIterator<number> {
    const { size } = fstatSync(this.#handle)
    const some = Buffer.alloc(Math.max(READ_AT_ONCE, this.#size))
    for (let at = 0; at < size; at += some.length) {
      const read = readSync(this.#handle, some, 0, some.length, at)
      for (let begin = 0; begin + this.#size <= read; begin += this.#size) {
        const number = (at + begin) / this.#size
        const page = some.subarray(begin, begin + this.#size)
        const slack = slackOf(page, this.#usable, number === 0)
        if (slack !== null && isDirty(page, slack)) yield number
      }
    }
  }

  /** Overwrites the unused space of a page, as the page is now, with zeros; false when it contained only zeros already. */
  overwrite(number: number): boolean {
    const page = Buffer.alloc(this.#size)
    const begin = number * this.#size
    if (readSync(this.#handle, page, 0, page.length, begin) < page.length) return false
    const slack = slackOf(page, this.#usable, number === 0)
    if (slack === null || !isDirty(page, slack)) return false
    writeSync(this.#handle, ZEROS, 0, slack.to - slack.from, begin + slack.from)
    return true
  }

  sync(): void {
    fsyncSync(this.#handle)
  }
}

// The space of a page that no cell (row) uses, by the file format (sqlite.org/fileformat2, b-tree pages). SQLite overwrites cells that it
// deletes (`secure_delete`), but not bytes that remain in this space when it moves the cells of a page.

/** Start and end of the unused space within a page, in bytes; the end is excluded. */
interface Slack {
  readonly from: number
  readonly to: number
}

/** Size in bytes of the file header, which comes before the page header in the file's first page. */
const FILE_HEADER = 100
/**
 * Size in bytes of a page's header, by the page's type byte: 2 and 5: interior pages of indexes and tables; 10 and 13: leaves of indexes
 * and tables.
 */
const HEADERS: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }

/**
 * The unused space of a page; null where it is not, or not certainly, a page of a B-tree. Pages of long texts and of the list of free pages
 * begin with the number of another page, so in files of up to 2^25 pages their first byte is never a type of a B-tree page; in larger files
 * the other fields decide. `usable`: number of bytes of a page that SQLite uses. `isFirst`: whether it is the first page of the file.
 */
export function slackOf(page: Buffer, usable: number, isFirst: boolean): Slack | null {
  const at = isFirst ? FILE_HEADER : 0
  const header = HEADERS[page[at] as number]
  if (header === undefined) return null
  const [firstFree, cells, start] = [page.readUInt16BE(at + 1), page.readUInt16BE(at + 3), page.readUInt16BE(at + 5)]
  const from = at + header + 2 * cells
  // In the page header, 0 means an offset of 65,536, which does not fit into two bytes.
  const to = start === 0 ? 65_536 : start
  if (from > to || to > usable || (firstFree !== 0 && firstFree < to)) return null
  for (let cell = at + header; cell < from; cell += 2) {
    const place = page.readUInt16BE(cell)
    if (place < to || place >= usable) return null
  }
  return { from, to }
}

/** Whether the unused space of a page contains anything but zeros. */
export function isDirty(page: Buffer, { from, to }: Slack): boolean {
  return ZEROS.compare(page, from, to, 0, to - from) !== 0
}

/** A buffer of zeros as long as the largest possible page. */
const ZEROS: Buffer = Buffer.alloc(65_536)
