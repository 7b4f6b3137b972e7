/** Reading around damaged rows. */
import type { QuerentError } from '../model/errors.ts'
import type { Note } from '../model/page.ts'
import type { StoreReader } from '../store/store.ts'

/** What is kept in memory of many rows is made without the damaged ones; the doctor reports those. */
export function aroundDamage<T>(reader: StoreReader, body: () => T): T {
  return reader.around(() => undefined, body)
}

/** For `StoreReader.around`: what is damaged is left out of the answer, which says so. */
export function noteDamage(context: { note(note: Note): void }): (damage: QuerentError) => void {
  return ({ message }) => context.note({ code: 'store_corrupt', message: `Left out: ${message}.` })
}
