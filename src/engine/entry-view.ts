/** An entry as callers see it, and back: ISO times and snake_case outside, instants inside. */
import type { AccessState, Entry } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { Viewer } from '../model/viewer.ts'
import { toldAudience, toldOrigin } from '../pipeline/disclose.ts'
import type { StoreReader } from '../store/store.ts'
import type { EntryView } from './engine.ts'

export function viewEntry(entry: Entry, access: AccessState | null, viewer: Viewer, reader: StoreReader): EntryView {
  return { ...viewHead(entry, access, viewer, reader), content: entry.content }
}

/** Without the content: for lists. */
export function viewHead(
  entry: Entry,
  access: AccessState | null,
  viewer: Viewer,
  reader: StoreReader,
): Omit<EntryView, 'content'> {
  return {
    id: entry.id,
    holder: entry.audience.holder,
    audience: toldAudience(entry.audience, viewer, reader),
    collection: entry.collection,
    kind: entry.kind,
    title: entry.title,
    tags: entry.tags,
    metadata: entry.metadata,
    origin: toldOrigin(entry, viewer, reader),
    created_at: toIso(entry.createdAt),
    updated_at: toIso(entry.updatedAt),
    valid_from: entry.validFrom === null ? null : toIso(entry.validFrom),
    valid_until: entry.validUntil === null ? null : toIso(entry.validUntil),
    known_at: toIso(entry.knownAt),
    access:
      access === null
        ? null
        : { last_accessed: toIso(access.lastAccessed), count: access.count, strength: access.strength },
  }
}
