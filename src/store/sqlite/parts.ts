/** The parts of a SQLite store over one connection. */

import { SqliteAccess } from './access.ts'
import { SqliteChanges } from './changes.ts'
import { SqliteChunks } from './chunks.ts'
import { SqliteEntries } from './entries.ts'
import { SqliteForgotten } from './forgotten.ts'
import { SqliteModels } from './models.ts'
import { SqlitePartitions } from './partitions.ts'
import { DamagePolicy } from './row-checks.ts'
import { SqliteSearch } from './search.ts'
import type { SqlDatabase } from './sql-driver.ts'
import { SqliteTables } from './tables.ts'
import { SqliteTallies } from './tallies.ts'
import { SqliteVectors } from './vectors.ts'

export interface SqliteParts {
  readonly db: SqlDatabase
  readonly damage: DamagePolicy
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
  const damage = new DamagePolicy()
  const forgotten = new SqliteForgotten(db)
  const tables = new SqliteTables(db, forgotten, damage)
  const models = new SqliteModels(db)
  const tallies = new SqliteTallies(db)
  return {
    db,
    damage,
    partitions,
    entries: new SqliteEntries(db, partitions, damage),
    chunks: new SqliteChunks(db, models, damage),
    vectors: new SqliteVectors(db, models, tallies, damage),
    access: new SqliteAccess(db, damage),
    changes: new SqliteChanges(db),
    forgotten,
    tables,
    tallies,
    search: new SqliteSearch(db, partitions, tables.aspectColumn),
  }
}
