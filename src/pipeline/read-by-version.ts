import { onePer } from '../base/one-per.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { Store } from '../store/store.ts'

/** What `read` makes of a table of a store, read again only when something of the table was written since. */
export function readByVersion<T>(table: TableDeclaration, read: (store: Store) => T): (store: Store) => T {
  const lastOf = onePer((_: Store): { version: number; value?: T } => ({ version: -1 }))
  return store => {
    const last = lastOf(store)
    const version = store.version(table)
    if (last.version !== version) {
      last.value = read(store)
      last.version = version
    }
    return last.value as T
  }
}
