/** The temporal filter (CQ-057): created or last accessed, as stored before the query, within the closed interval. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { NODES } from '../tables.ts'
import type { Look } from './look.ts'

/** A test of nodes; asked of many, so it makes nothing. */
export function passingTimes(look: Look, [start, end]: readonly [number, number]): (entry: EntryKey) => boolean {
  const { columns, reader, state } = look
  const created = createdTimes(state.host.store)
  const isWithin = (time: number) => start <= time && time <= end
  return entry => isWithin(columns.lastAccessed(entry)) || isWithin(created.of(reader, entry))
}

const TIMES = new WeakMap<Store, CreatedTimes>()

function createdTimes(store: Store): CreatedTimes {
  const known = TIMES.get(store) ?? new CreatedTimes()
  TIMES.set(store, known)
  return known
}

/** When nodes were created: it never changes and keys are never reused, so each is read once. 8 bytes a key. */
class CreatedTimes {
  #times = new Float64Array(1024).fill(Number.NaN)

  of(reader: StoreReader, entry: EntryKey): number {
    const known = this.#times[entry] ?? Number.NaN
    return Number.isNaN(known) ? this.#read(reader, entry) : known
  }

  #read(reader: StoreReader, entry: EntryKey): number {
    const created = Number(reader.table(NODES).get({ entry })?.['created_at'] ?? Number.NEGATIVE_INFINITY)
    if (entry >= this.#times.length) {
      const grown = new Float64Array(Math.max(entry + 1, this.#times.length * 2)).fill(Number.NaN)
      grown.set(this.#times)
      this.#times = grown
    }
    this.#times[entry] = created
    return created
  }
}
