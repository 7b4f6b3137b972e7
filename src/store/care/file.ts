/** A store file, looked after from outside: what lies beside it, and connections that are nobody else's. */
import { rmSync } from 'node:fs'
import { openNodeSqlite, type SqlDatabase } from '../sqlite/node-sqlite.ts'
import { isLockless } from '../sqlite/schema.ts'

/** How long a connection waits for the locks of other processes. */
const WAIT_MS = 5_000

/** The file and what SQLite may put beside it: its log, the memory that processes share, its journal. */
export function storeFiles(file: string): readonly string[] {
  return ['', '-wal', '-shm', '-journal'].map(end => `${file}${end}`)
}

/** With all that lies beside it; what is not there is gone already. */
export function removeStore(file: string): void {
  for (const path of storeFiles(file)) rmSync(path, { force: true })
}

/** To be closed by the caller. `repair` may write what SQLite says of its own tables. Throws what opening a store throws. */
export function openFile(file: string, to: 'read' | 'write' | 'repair'): SqlDatabase {
  const options = { file, readOnly: to === 'read', timeoutMs: WAIT_MS, schemaWritable: to === 'repair' }
  const db = openNodeSqlite({ ...options, immutable: false })
  if (to !== 'read') return db
  try {
    // Nothing is read before the first statement.
    db.exec('pragma schema_version')
    return db
  } catch (error) {
    if (!isLockless(error, file)) return db
    db.close()
    return openNodeSqlite({ ...options, immutable: true })
  }
}
