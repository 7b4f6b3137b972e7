/** The parts of a SQLite store over one connection. */
import type { SqlDatabase } from './sql-driver.ts'
import { SqliteAccess } from './sqlite-access.ts'
import { SqliteChanges } from './sqlite-changes.ts'
import { SqliteChunks } from './sqlite-chunks.ts'
import { SqliteEntries } from './sqlite-entries.ts'
import { SqliteForgotten } from './sqlite-forgotten.ts'
import { SqliteModels } from './sqlite-models.ts'
import { SqlitePartitions } from './sqlite-partitions.ts'
import { SqliteSearch } from './sqlite-search.ts'
import { SqliteTables } from './sqlite-tables.ts'
import { SqliteTallies } from './sqlite-tallies.ts'
import { SqliteVectors } from './sqlite-vectors.ts'

export interface SqliteParts {
  readonly db: SqlDatabase
  readonly partitions: SqlitePartitions
  readonly entries: SqliteEntries
  readonly chunks: SqliteChunks
  readonly vectors: SqliteVectors
  readonly access: SqliteAccess
  readonly changes: SqliteChanges
  readonly forgotten: SqliteForgotten
  readonly tables: SqliteTables
  readonly tallies: SqliteTallies
  readonly search: SqliteSearch
}

export function makeParts(db: SqlDatabase): SqliteParts {
  const partitions = new SqlitePartitions(db)
  const forgotten = new SqliteForgotten(db)
  const tables = new SqliteTables(db, forgotten)
  const models = new SqliteModels(db)
  const tallies = new SqliteTallies(db)
  return {
    db,
    partitions,
    entries: new SqliteEntries(db, partitions),
    chunks: new SqliteChunks(db, models),
    vectors: new SqliteVectors(db, models, tallies),
    access: new SqliteAccess(db),
    changes: new SqliteChanges(db),
    forgotten,
    tables,
    tallies,
    search: new SqliteSearch(db, partitions, tables.aspectColumn),
  }
}
