/** The header of a store file: its first 100 bytes, which describe the file before SQLite can read it (sqlite.org/fileformat2). */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { QuerentError } from '../../model/errors.ts'
import { APPLICATION_ID, SCHEMA } from '../sqlite/schema.ts'
import { openFile } from './file.ts'
import { type Problem, REPAIR_HELP, RESTORE_HELP, type StoreFinding, sound } from './problem.ts'
import { copyOfAlteredList, restoreTableList } from './table-list.ts'

export interface Header {
  readonly size: number
  readonly isSqlite: boolean
  readonly pageSize: number
  readonly pages: number
  readonly schema: number
  readonly application: number
  /** Whether writers keep a write-ahead log beside the file: true for a store in use, false for a backup, which is a single file. */
  readonly hasLog: boolean
}

const MAGIC = 'SQLite format 3\0'
const LENGTH = 100
/** Page size of every store file, in bytes. */
const PAGE = 4096
/** Smallest size of a store file in bytes: even an empty store has more than four pages. */
const SMALLEST = 4 * PAGE

export function headerOf(file: string): Header {
  const bytes = Buffer.alloc(LENGTH)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, bytes, 0, LENGTH, 0)
  } finally {
    closeSync(handle)
  }
  const pageSize = bytes.readUInt16BE(16)
  return {
    size: statSync(file).size,
    isSqlite: bytes.toString('latin1', 0, 16) === MAGIC,
    pageSize: pageSize === 1 ? 65_536 : pageSize,
    pages: bytes.readUInt32BE(28),
    schema: bytes.readUInt32BE(60),
    application: bytes.readUInt32BE(68),
    hasLog: bytes[18] === 2,
  }
}

/** Whether the file is a backup made by `copyStore`: a store without a write-ahead log, which no process has opened for writing since. */
export function isBackup(file: string): boolean {
  const { isSqlite, application, hasLog } = headerOf(file)
  return isSqlite && application === APPLICATION_ID && !hasLog
}

/** The header that SQLite would write for a store file with this number of pages of 4 KiB. */
function soundHeader(pages: number): Uint8Array {
  const bytes = Buffer.alloc(LENGTH)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt16BE(PAGE, 16)
  // Bytes 18 to 23: journal mode with a write-ahead log, no reserved bytes per page, and the payload fractions that the file format
  // prescribes.
  bytes.set([2, 2, 0, 64, 32, 32], 18)
  bytes.writeUInt32BE(1, 24)
  bytes.writeUInt32BE(pages, 28)
  bytes.writeUInt32BE(1, 40)
  bytes.writeUInt32BE(4, 44)
  bytes.writeUInt32BE(1, 56)
  bytes.writeUInt32BE(SCHEMA, 60)
  bytes.writeUInt32BE(APPLICATION_ID, 68)
  bytes.writeUInt32BE(1, 92)
  bytes.writeUInt32BE(3_053_004, 96)
  return bytes
}

/**
 * A correct header for this file. It keeps the file's schema cookie (SQLite's counter of schema changes), by which the stored copy of the
 * list of tables is recognised as current.
 */
export function soundHeaderOf(file: string): Uint8Array {
  const bytes = Buffer.alloc(4)
  const handle = openSync(file, 'r')
  try {
    readSync(handle, bytes, 0, 4, 40)
  } finally {
    closeSync(handle)
  }
  const header = soundHeader(Math.floor(statSync(file).size / PAGE))
  header.set(bytes, 40)
  return header
}

/** Finding about the file as a whole, from its header and size. */
export function fileFinding(file: string): StoreFinding {
  const header = headerOf(file)
  const wrong = wrongWith(header)
  if (headRepair(file) !== null) {
    const message = wrong?.message ?? 'the head of the file or its list of tables is damaged, and nothing behind it'
    return { check: 'file', ok: false, message, help: REPAIR_HELP, isRepairable: true }
  }
  if (wrong === null) return sound('file', `${header.pages} pages of ${header.pageSize} bytes`)
  return { check: 'file', ok: false, ...wrong, isRepairable: false }
}

/** A repair for a store file that cannot be opened, which makes it readable again. */
export interface HeadRepair {
  /** What the repair of the file does, as text for the report. */
  readonly done: string
  /** Repairs the file; no other process may have it open. */
  readonly repair: (file: string) => void
}

/**
 * Finds the repair for a file's header or list of tables; null where none is needed or none helps. The repair is first tried on a copy:
 * after it, everything in the copy must be sound, except for unused pages that are in no list of free pages.
 */
export function headRepair(file: string): HeadRepair | null {
  if (statSync(file).size < SMALLEST || isReadable(file)) return null
  const folder = mkdtempSync(join(dirname(file), 'header-'))
  try {
    return HEAD_REPAIRS.find(({ repair }) => isReadable(repairedCopy(file, join(folder, 'store.db'), repair))) ?? null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function repairedCopy(file: string, copy: string, repair: HeadRepair['repair']): string {
  for (const end of ['', '-wal']) {
    rmSync(copy + end, { force: true })
    if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  }
  try {
    repair(copy)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
  }
  return copy
}

const HEAD_REPAIRS: readonly HeadRepair[] = [
  { done: 'wrote the head of the file again', repair: file => writeHeader(file, soundHeaderOf(file)) },
  {
    done: 'wrote the list of tables again',
    repair: file => {
      writeHeader(file, soundHeaderOf(file))
      restoreTableList(file)
    },
  },
]

export function writeHeader(file: string, header: Uint8Array): void {
  const handle = openSync(file, 'r+')
  try {
    writeSync(handle, header, 0, header.length, 0)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Whether the file is a store of this version whose pages are all sound; unused pages that are in no list of free pages are accepted. */
function isReadable(file: string): boolean {
  try {
    const db = openFile(file, 'write')
    try {
      const numberOf = (sql: string) => db.prepareArrays<[number]>(sql).get()?.[0]
      if (numberOf('pragma application_id') !== APPLICATION_ID || numberOf('pragma user_version') !== SCHEMA)
        return false
      if (copyOfAlteredList(db) !== null) return false
      const lines = db.prepareArrays<[string]>('pragma integrity_check').all()
      return lines.every(([text]) =>
        text.split('\n').every(line => /^(ok|\*\*\*.*|Page \d+: never used.*)$/.test(line)),
      )
    } finally {
      db.close()
    }
  } catch (error) {
    if (error instanceof QuerentError) return false
    throw error
  }
}

function wrongWith(header: Header): (Pick<Problem, 'help'> & { readonly message: string }) | null {
  const { size, isSqlite, pageSize, pages, schema, application } = header
  if (size === 0) return { message: 'the file is empty', help: RESTORE_HELP }
  if (!isSqlite) {
    return {
      message: 'the file does not begin like a store: it is another file, or its first page was overwritten',
      help: RESTORE_HELP,
    }
  }
  if (application !== APPLICATION_ID) {
    return { message: 'the file is the database of another program', help: 'Name another home, or move the file away.' }
  }
  if (schema > SCHEMA) {
    return {
      message: `the store was written by a newer version: it has schema ${schema}, this version knows up to ${SCHEMA}`,
      help: 'Update querent. Nothing is wrong with the store.',
    }
  }
  const there = Math.floor(size / pageSize)
  return there < pages
    ? { message: `the file is cut short: ${there} of ${pages} pages are there`, help: RESTORE_HELP }
    : null
}
