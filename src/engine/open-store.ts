/** The store of an engine: the caller's own, one in memory, or the file of the home. */
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { openMemoryStore } from '../store/memory-store.ts'
import { openSqliteStore } from '../store/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import type { Config } from './config.ts'
import type { Home } from './home.ts'
import type { EngineOptions } from './options.ts'

/** `home` null: only where the options name a store. */
export function openStore({ store, readOnly }: EngineOptions, { durability }: Config, home: Home | null): Store {
  if (store === 'memory') return openMemoryStore({ storeId: randomUUID() })
  if (store !== undefined) return store
  if (home === null) throw new Error('invariant broken: a store needs a home')
  if (readOnly !== true && !existsSync(home.storeFile)) makeForThisUser(home.storeFile)
  return openSqliteStore({ file: home.storeFile, durability, readOnly })
}

/** SQLite would let everybody read it whom the folder lets in. */
function makeForThisUser(file: string): void {
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
  } catch {
    // Another process was quicker, or the store says better what is wrong with the folder.
  }
}
