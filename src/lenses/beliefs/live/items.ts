/** Beliefs of an answer as items of a live query. */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { LiveItem } from '../../../model/live.ts'
import type { ShownBelief, ShowView } from '../access/show.ts'
import type { Belief } from '../model.ts'
import { historyOf } from '../record/read.ts'
import type { TrustIn } from '../trust/holders.ts'

/** One belief of one holder, through all its versions. Internal: it names the holder. */
export function keyOf({ holder, chain }: { readonly holder: string; readonly chain: string }): string {
  return JSON.stringify([holder, chain])
}

export function holderOfKey(key: string): string {
  return (JSON.parse(key) as [string, string])[0]
}

/** But for its place, its score and what that rests on. */
export function itemOf(shown: ShownBelief, view: ShowView): Omit<LiveItem, 'rank' | 'score' | 'standing'> {
  const { belief, version } = shown
  return {
    key: keyOf(version),
    id: belief.id,
    version: canonicalJson(VERSION_PARTS.map(name => belief[name]) as JsonObject['']),
    since: sinceOf(shown, view),
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

/** What trust in its holder rests on, time apart. */
export interface TrustBasis {
  readonly text: string
  readonly kind: TrustIn['kind']
  readonly value: number
}

/** The smallest change of trust that is told: of reputations 0.1 (BQ-158), of which trust counts three tenths. */
const LEAST = 1e-4
const LEAST_OF_REPUTATION = 0.03 + 1e-9

export function basisOf(trust: TrustIn): TrustBasis {
  const { kind, value } = trust
  return { kind, value, text: textOf(trust) }
}

/** `then`: what trust as it is now would have come to when the last answer was given. */
export function basisAfter(last: TrustBasis, then: TrustIn, now: TrustIn): TrustBasis {
  const isReputation = (kind: TrustIn['kind']) => kind === 'reputation' || kind === 'default'
  const bound = isReputation(last.kind) && isReputation(then.kind) ? LEAST_OF_REPUTATION : LEAST
  if (Math.abs(then.value - last.value) > bound) {
    const text = textOf(now)
    return { ...basisOf(now), text: text === last.text ? `${text} again` : text }
  }
  return aged(last, now)
}

/** Time alone has passed. Small changes of a reputation add up until they are told. */
export function aged(last: TrustBasis, { kind, value }: TrustIn): TrustBasis {
  return last.kind === 'reputation' || last.kind === 'default' ? last : { text: last.text, kind, value }
}

function textOf({ kind, value, direct }: TrustIn): string {
  switch (kind) {
    case 'self':
    case 'default':
      return kind
    case 'direct':
      return `direct ${direct?.base}`
    case 'transitive':
      return `transitive ${value.toFixed(1)}`
    case 'reputation':
      return `reputation ${value}`
  }
}
