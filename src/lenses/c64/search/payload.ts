/** What a hit shows of a record. Others wrote it: of the fields known here, values of another kind are left out. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { HitPayload, HitReference } from '../enrichment/hits.ts'

const TEXTS: ReadonlySet<string> = new Set(['title', 'filename', 'type', 'document'])

/** All other fields stay as they are. */
export function payloadOf(fields: JsonObject): HitPayload {
  const kept = Object.entries(fields).filter(([name, value]) => !TEXTS.has(name) || typeof value === 'string')
  return { ...Object.fromEntries(kept), ...tagsOf(fields['tags']), ...referencesOf(fields['references']) }
}

/** A server finds a tag that stands alone like a list of one. */
function tagsOf(given: unknown): Pick<HitPayload, 'tags'> {
  return given === undefined ? {} : { tags: listOf(given).filter(tag => typeof tag === 'string') }
}

function referencesOf(given: unknown): Pick<HitPayload, 'references'> {
  return given === undefined ? {} : { references: listOf(given).flatMap(referenceOf) }
}

function referenceOf(given: unknown): readonly HitReference[] {
  const { chunk, description } = (given ?? {}) as Partial<Record<keyof HitReference, unknown>>
  if (typeof chunk !== 'string') return []
  return [{ chunk, description: typeof description === 'string' ? description : '' }]
}

function listOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [given]
}
