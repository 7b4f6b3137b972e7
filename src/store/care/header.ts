/** The first hundred bytes of a store file: what it says of itself before SQLite can read it (sqlite.org/fileformat2). */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { APPLICATION_ID, SCHEMA } from '../sqlite/schema.ts'
import { type Problem, RESTORE_HELP, type StoreFinding, sound } from './problem.ts'

export interface Header {
  readonly size: number
  readonly isSqlite: boolean
  readonly pageSize: number
  readonly pages: number
  readonly schema: number
  readonly application: number
  /** Whether its writers keep a log beside it, as those of a home do; a backup is one file. */
  readonly hasLog: boolean
}

const MAGIC = 'SQLite format 3\0'
const LENGTH = 100

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

/** Whether `copyStore` made it: a store in one file, which nobody has opened for writing since. */
export function isBackup(file: string): boolean {
  const { isSqlite, application, hasLog } = headerOf(file)
  return isSqlite && application === APPLICATION_ID && !hasLog
}

/** As SQLite would write it for a store of so many pages of 4 KiB. */
export function soundHeader(pages: number): Uint8Array {
  const bytes = Buffer.alloc(LENGTH)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt16BE(4096, 16)
  // Written with a log, no reserved bytes, fractions as prescribed.
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

/** What is wrong with the file as a file. */
export function fileFinding(file: string): StoreFinding {
  const header = headerOf(file)
  const wrong = wrongWith(header)
  if (wrong === null) return sound('file', `${header.pages} pages of ${header.pageSize} bytes`)
  return { check: 'file', ok: false, ...wrong, isMendable: false }
}

function wrongWith(header: Header): (Pick<Problem, 'help'> & { readonly message: string }) | null {
  const { size, isSqlite, pageSize, pages, schema, application } = header
  if (size === 0) return { message: 'the file is empty', help: RESTORE_HELP }
  if (!isSqlite) {
    return {
      message: 'the file does not begin as a store does: it is another file, or its first page was overwritten',
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
