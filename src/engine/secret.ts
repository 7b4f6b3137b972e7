/** The secret that signs cursors: made once a store and kept in it, so every process on it honours the others' cursors. */
import { QuerentError } from '../model/errors.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'

const NAME = 'cursor_secret'
/** A question that needs it should not wait long for the writers of other processes. */
const WAIT_MS = 50
/** A store that cannot be written signs with what lives as long as this process. */
const unsaved = new WeakMap<Store, string>()

export function storeSecret(store: Store, random: (bytes: number) => Uint8Array): string {
  const kept = secretIn(store) ?? unsaved.get(store)
  if (kept !== undefined) return kept
  const made = Buffer.from(random(32)).toString('base64url')
  try {
    return store.write(0, writer => keep(writer, made), WAIT_MS)
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    unsaved.set(store, made)
    return made
  }
}

/** Unless another process was quicker. */
function keep(writer: StoreWriter, made: string): string {
  const other = secretIn(writer)
  if (other === undefined) writer.setMeta(NAME, made)
  return other ?? made
}

/** One that is damaged is replaced: cursors given before end, nothing else is lost. */
function secretIn(reader: StoreReader): string | undefined {
  try {
    return reader.meta(NAME)
  } catch (error) {
    if (error instanceof QuerentError && error.code === 'store_corrupt') return undefined
    throw error
  }
}
