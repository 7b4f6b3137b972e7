/** What of a visible entry is told to whom: parts of it concern its holder only. */
import type { Entry } from '../model/entry.ts'
import type { Audience } from '../model/partition.ts'
import { isOwner, type Viewer } from '../model/viewer.ts'
import { FILES } from '../store/core-tables.ts'
import type { StoreReader } from '../store/store.ts'
import { sharedThrough } from './members.ts'

/** The federations that a viewer reads it through; all of them for the holder and the local owner. */
export function visibleAudience(
  audience: Audience,
  viewer: Viewer,
  reader: StoreReader,
): { readonly kind: Audience['kind']; readonly federations?: readonly string[] } {
  if (audience.kind !== 'shared') return { kind: audience.kind }
  const { kind, holder, federations } = audience
  return { kind, federations: isInside(holder, viewer) ? federations : sharedThrough(reader, viewer, audience) }
}

/** A file's place on the holder's machine is theirs: others get the path inside the folder that was added, or null. */
export function visibleOrigin(entry: Entry, viewer: Viewer, reader: StoreReader): string | null {
  const { origin, audience, key } = entry
  if (origin === null || isInside(audience.holder, viewer) || !isOnDisk(origin)) return origin
  const path = reader.table(FILES).get({ entry: key })?.['path']
  return typeof path === 'string' ? path : null
}

function isInside(holder: string, viewer: Viewer): boolean {
  return isOwner(viewer) || holder === viewer.id
}

/** A URL of a file, or an absolute path of any system, as it may be put by hand. */
function isOnDisk(origin: string): boolean {
  return /^\s*(file:|[/\\~]|[a-z]:[/\\])/i.test(origin)
}
