/** What is kept in memory of many rows is made without the damaged ones; the doctor reports those. */
import type { StoreReader } from '../store/store.ts'

export function aroundDamage<T>(reader: StoreReader, body: () => T): T {
  return reader.around(() => undefined, body)
}
