/** Stores in files, and turns that pause at every step, for tests of long reads and writes (QE-019). */
import { onTestFinished } from 'vitest'
import { Turns } from '../../src/base/turns.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { draftOf, wholeChunk } from './entries.ts'
import { tempFolder } from './temp-folder.ts'

export const NOW = 1

/** Closed and removed when the test ends. */
export function openFile(options: Partial<SqliteStoreOptions> = {}): { readonly store: Store; readonly file: string } {
  const folder = tempFolder()
  const file = folder.file('store.db')
  const store = openSqliteStore({ file, ...options })
  onTestFinished(() => {
    store.close()
    folder[Symbol.dispose]()
  })
  return { store, file }
}

/** Turns that pause at every step and call `between` there. */
export function turnsThat(between: (pause: number) => unknown): Turns {
  let [time, pauses] = [0, 0]
  const pause = async () => {
    await between(++pauses)
  }
  return new Turns(
    () => {},
    () => (time += 1_000),
    pause,
  )
}

export function putShort(store: Store, id: string): unknown {
  const draft = draftOf({ id })
  return store.write(NOW, writer => writer.put(draft, wholeChunk(draft)))
}

export function idsIn(store: Store): readonly string[] {
  return store.entries(store.scanEntries(0, 99)).map(({ id }) => id)
}
