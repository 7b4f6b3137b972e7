/** Access to a store file without opening it as a store: the files that SQLite keeps beside it, and plain database connections. */
import { rmSync } from 'node:fs'
import { openNodeSqlite, type SqlDatabase } from '../sqlite/node-sqlite.ts'
import { isLockless } from '../sqlite/schema.ts'

/** How long a connection waits for locks of other processes, in ms. */
const WAIT_MS = 5_000

/** Paths of the store file and of the files that SQLite may keep beside it: write-ahead log, shared memory, journal. */
export function storeFiles(file: string): readonly string[] {
  return ['', '-wal', '-shm', '-journal'].map(end => `${file}${end}`)
}

/** Deletes a store file with all files that SQLite may keep beside it; missing ones are ignored. */
export function removeStore(file: string): void {
  for (const path of storeFiles(file)) rmSync(path, { force: true })
}

/**
 * Opens a plain database connection to a store file; the caller must close it. With `repair`, the connection may also write SQLite's schema
 * table. Throws the errors of opening a store.
 */
export function openFile(file: string, to: 'read' | 'write' | 'repair'): SqlDatabase {
  const options = { file, readOnly: to === 'read', timeoutMs: WAIT_MS, schemaWritable: to === 'repair' }
  const db = openNodeSqlite({ ...options, immutable: false })
  if (to !== 'read') return db
  try {
    // Forces a first read, since SQLite reads nothing from the file before the first statement.
    db.exec('pragma schema_version')
    return db
  } catch (error) {
    if (!isLockless(error, file)) return db
    db.close()
    return openNodeSqlite({ ...options, immutable: true })
  }
}
