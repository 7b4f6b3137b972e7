/** The two parts of the lens in the store, named body (files and text) and mind (concepts and links). */
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { refusal } from './envelope.ts'
import { saltNumbers } from './numbering.ts'
import { STATE } from './tables.ts'

export type Part = 'body' | 'mind'

const NOT_THERE: Readonly<Record<Part, string>> = {
  body: 'body not initialized (call /body/init)',
  mind: 'mind not initialized (call /mind/init)',
}

export function isInitialised(reader: StoreReader, part: Part): boolean {
  return reader.table(STATE).get({ name: part }) !== undefined
}

/** False: it was there already. `random` makes what keeps numbers apart, where that is not there yet. */
export function initialise(writer: StoreWriter, part: Part, random?: (bytes: number) => Uint8Array): boolean {
  if (random !== undefined) saltNumbers(writer, random)
  if (isInitialised(writer, part)) return false
  writer.table(STATE).put({ name: part, value: 1 })
  return true
}

/** Throws `Refusal` with code `not_initialized`. */
export function mustBeInitialised(reader: StoreReader, ...parts: readonly Part[]): void {
  for (const part of parts) if (!isInitialised(reader, part)) throw refusal(part, 'not_initialized', NOT_THERE[part])
}

/** The file that both parts are in, for the owner; to others the machine's folders are not shown. */
export function storePath({ host, viewer }: { readonly host: LensHost; readonly viewer: Viewer }): string | null {
  return isOwner(viewer) ? (host.workspace?.storeFile ?? ':memory:') : null
}
