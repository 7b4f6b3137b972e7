/** An entry as callers see it, and back: ISO times and snake_case outside, instants inside. */
import type { AccessState, Entry } from '../model/entry.ts'
import { toIso } from '../model/instant.ts'
import type { EntryView } from './engine.ts'

export function viewEntry(entry: Entry, access: AccessState | null): EntryView {
  return { ...viewHead(entry, access), content: entry.content }
}

/** Without the content: for lists. */
export function viewHead(entry: Entry, access: AccessState | null): Omit<EntryView, 'content'> {
  const { audience } = entry
  return {
    id: entry.id,
    holder: audience.holder,
    audience:
      audience.kind === 'shared' ? { kind: 'shared', federations: audience.federations } : { kind: audience.kind },
    collection: entry.collection,
    kind: entry.kind,
    title: entry.title,
    tags: entry.tags,
    metadata: entry.metadata,
    origin: entry.origin,
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
