import { isOwner, type Viewer } from '../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/**
 * Notices of what background work is about to do; the `status` and `doctor` commands show a notice until the work is done or no longer due.
 * Kept in the store, so that every process that uses the store shows the same notices.
 */
export interface Notice {
  /** Id of the viewer to whom the notice is shown; the owner sees all notices. */
  readonly viewer: string
  /** Text of the notice, a sentence. */
  readonly message: string
}

/** Name of the text in the store's `meta` table that holds all notices, as a JSON object from notice id to notice. */
const NAME = 'notices'

/** Sets the notice with this id; null removes it. */
export function setNotice(writer: StoreWriter, id: string, notice: Notice | null): void {
  const { [id]: _, ...others } = allIn(writer)
  writer.setMeta(NAME, JSON.stringify(notice === null ? others : { ...others, [id]: notice }))
}

/** Messages of the notices that a viewer may see, in the order of the notices' ids. */
export function noticesFor(reader: StoreReader, viewer: Viewer): readonly string[] {
  const all = Object.entries(allIn(reader)).sort(([a], [b]) => (a < b ? -1 : 1))
  return all.flatMap(([, notice]) => (isOwner(viewer) || notice.viewer === viewer.id ? [notice.message] : []))
}

function allIn(reader: StoreReader): Readonly<Record<string, Notice>> {
  return JSON.parse(reader.meta(NAME) ?? '{}') as Record<string, Notice>
}
