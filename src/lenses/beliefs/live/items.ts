/** Beliefs of an answer as items of a live query. */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { LiveItem } from '../../../model/live.ts'
import type { ShownBelief, ShowView } from '../access/show.ts'
import type { Belief } from '../model.ts'
import { historyOf } from '../record/read.ts'

/** One belief of one holder, through all its versions. Internal: it names the holder. */
export function keyOf({ holder, chain }: { readonly holder: string; readonly chain: string }): string {
  return JSON.stringify([holder, chain])
}

export function holderOfKey(key: string): string {
  return (JSON.parse(key) as [string, string])[0]
}

/** Id of its first version. */
export function chainOfKey(key: string): string {
  return (JSON.parse(key) as [string, string])[1]
}

/** But for its place, its score and what that rests on. */
export function itemOf(shown: ShownBelief, view: ShowView): UnratedItem {
  return { ...saidBy(shown.belief), key: keyOf(shown.version), since: sinceOf(shown, view) }
}

export type UnratedItem = Omit<LiveItem, 'rank' | 'score' | 'standing'>

/** All that the belief itself says. */
export function saidBy(belief: Belief): Omit<UnratedItem, 'key' | 'since'> {
  return {
    id: belief.id,
    version: canonicalJson(VERSION_PARTS.map(name => belief[name]) as JsonObject['']),
    // The cast: a belief as it is shown is JSON.
    shown: belief as unknown as JsonObject,
    fields: fieldsOf(belief),
  }
}

/** Sources that come in or go out of sight make no new version. */
const VERSION_PARTS = [
  'id',
  'content_hash',
  'confidence',
  'visibility',
  'valid_from',
  'valid_until',
  'domains',
  'holder_id',
  'federation_ids',
] as const satisfies readonly (keyof Belief)[]

const FIELDS = [
  'content',
  'confidence',
  'visibility',
  'valid_from',
  'valid_until',
  'domains',
  'derivation',
  'holder_id',
  'federation_ids',
] as const satisfies readonly (keyof Belief)[]

function fieldsOf(belief: Belief): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FIELDS.map(name => [
      name,
      name === 'content' ? belief.content_hash : canonicalJson(belief[name] as JsonObject['']),
    ]),
  )
}

/** When the first of its versions that the requester may read was made: what lies before that is not told. */
function sinceOf({ belief, version }: ShownBelief, view: ShowView): Instant {
  if (belief.supersedes === null) return version.createdAt
  return historyOf(view, version.holder, version.chain).at(-1)?.version.createdAt ?? version.createdAt
}
