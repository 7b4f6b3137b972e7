import { isOwner, type Viewer } from '../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'

/**
 * What background work is about to do and people should know of first: `status` and the doctor show it until it is done or no longer due.
 * Kept in the store, so that every process on it shows the same.
 */
export interface Notice {
  /** Whom it is about; the owner sees all. */
  readonly viewer: string
  /** In a sentence. */
  readonly message: string
}

/** Named text of the store: the notices by id, as JSON. */
const NAME = 'notices'

/** Null: it is taken back. */
export function setNotice(writer: StoreWriter, id: string, notice: Notice | null): void {
  const { [id]: _, ...others } = allIn(writer)
  writer.setMeta(NAME, JSON.stringify(notice === null ? others : { ...others, [id]: notice }))
}

/** In the order of their ids. */
export function noticesFor(reader: StoreReader, viewer: Viewer): readonly string[] {
  const all = Object.entries(allIn(reader)).sort(([a], [b]) => (a < b ? -1 : 1))
  return all.flatMap(([, notice]) => (isOwner(viewer) || notice.viewer === viewer.id ? [notice.message] : []))
}

function allIn(reader: StoreReader): Readonly<Record<string, Notice>> {
  return JSON.parse(reader.meta(NAME) ?? '{}') as Record<string, Notice>
}
