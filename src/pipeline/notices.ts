import { isOwner, type Viewer } from '../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/**
 * A notice of what background work is about to do: `status` and the doctor show it until the work is done or no longer due. Kept in the
 * store, so that every process on it shows the same.
 */
export interface Notice {
  /** The viewer concerned; the owner sees all notices. */
  readonly viewer: string
  /** Text of the notice, a sentence. */
  readonly message: string
}

/** Name of the store's meta text that holds the notices by id, as JSON. */
const NAME = 'notices'

/** Sets a notice; null withdraws it. */
export function setNotice(writer: StoreWriter, id: string, notice: Notice | null): void {
  const { [id]: _, ...others } = allIn(writer)
  writer.setMeta(NAME, JSON.stringify(notice === null ? others : { ...others, [id]: notice }))
}

/** Notices for a viewer, in the order of their ids. */
export function noticesFor(reader: StoreReader, viewer: Viewer): readonly string[] {
  const all = Object.entries(allIn(reader)).sort(([a], [b]) => (a < b ? -1 : 1))
  return all.flatMap(([, notice]) => (isOwner(viewer) || notice.viewer === viewer.id ? [notice.message] : []))
}

function allIn(reader: StoreReader): Readonly<Record<string, Notice>> {
  return JSON.parse(reader.meta(NAME) ?? '{}') as Record<string, Notice>
}
