/**
 * Beliefs of an answer as items of a live query, and what trust in their holders rests on, time apart: a live query
 * sends an item again when that changes.
 */
import { canonicalJson, type JsonObject } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import type { LiveItem } from '../../../model/live.ts'
import type { Requester } from '../access/requester.ts'
import { type ShownBelief, type ShowView, trustedThrough } from '../access/show.ts'
import type { Belief, BeliefSource } from '../model.ts'
import type { RemoteBelief } from '../nodes/remote-belief.ts'
import { historyOf } from '../record/read.ts'
import type { TrustIn } from '../trust/edge.ts'
import type { HolderTrust } from '../trust/holders.ts'

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

type UnratedItem = Omit<LiveItem, 'rank' | 'score' | 'standing'>

/** All that the belief itself says. */
function saidBy(belief: Belief): Omit<UnratedItem, 'key' | 'since'> {
  return {
    id: belief.id,
    version: canonicalJson(VERSION_PARTS.map(name => belief[name]) as JsonObject['']),
    // The cast: a belief as it is shown is JSON.
    shown: belief as unknown as JsonObject,
    fields: fieldsOf(belief),
  }
}

/** Sources that become visible or hidden make no new version. */
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

/** When the oldest version that the requester may read was made; earlier ones are not revealed. */
function sinceOf({ belief, version }: ShownBelief, view: ShowView): Instant {
  if (belief.supersedes === null) return version.createdAt
  return historyOf(view, version.holder, version.chain).at(-1)?.version.createdAt ?? version.createdAt
}

/** A belief of another node, through all its versions. */
export function remoteItem(remote: RemoteBelief): UnratedItem {
  const { belief } = remote
  return { ...saidBy(belief), key: keyOfRemote(remote), since: Date.parse(belief.created_at) }
}

/** The same for all versions of the belief. */
export function keyOfRemote({ node, source, chain }: RemoteBelief): string {
  return JSON.stringify([MARK, source.kind, source.id, node, chain])
}

const MARK = 'node'
const PARTS = 5

/** Where an item of that key came from; null: from this node's own store, whose keys have two parts. */
export function nodeOfKey(key: string): (BeliefSource & { readonly node: string }) | null {
  const parts = JSON.parse(key) as readonly string[]
  if (parts.length !== PARTS) return null
  const [, kind, id, node] = parts as [string, BeliefSource['kind'], string | null, string]
  return { kind, id, node }
}

export interface TrustBasis {
  readonly text: string
  readonly kind: TrustIn['kind']
  readonly value: number
}

/** Of the beliefs of one answer. */
export interface TrustBases {
  /** By key of the item. */
  readonly of: ReadonlyMap<string, TrustBasis>
  readonly asOf: Instant
  /** Revision of the trust. */
  readonly trust: number
}

/**
 * `now`: the trust that it counts with; `before`: its basis in the last answer, if it was there; `then`: trust as it is now,
 * as of that answer, or null where nothing but time has changed it.
 */
export function basisOf(
  shown: ShownBelief,
  now: TrustIn,
  before: TrustBasis | undefined,
  then: HolderTrust | null,
  requester: Requester,
): TrustBasis {
  if (before === undefined) return firstBasis(now)
  return then === null ? aged(before, now) : basisAfter(before, trustIn(then, requester, shown), now)
}

function trustIn(trust: HolderTrust, requester: Requester, { source, version }: ShownBelief): TrustIn {
  const as = trustedThrough(requester, source, version.holder)
  return as === null ? trust.of(version.holder) : trust.as(as)
}

/** The smallest changes of trust that cause an event; for reputations 0.1 (BQ-158), of which trust counts three tenths. */
const LEAST = 1e-4
const MIN_OF_REPUTATION = 0.03 + 1e-9

function firstBasis(trust: TrustIn): TrustBasis {
  const { kind, value } = trust
  return { kind, value, text: textOfTrust(trust) }
}

/** `then`: what trust as it is now would have come to when the last answer was given. */
function basisAfter(last: TrustBasis, then: TrustIn, now: TrustIn): TrustBasis {
  const isReputation = (kind: TrustIn['kind']) => kind === 'reputation' || kind === 'default'
  const bound = isReputation(last.kind) && isReputation(then.kind) ? MIN_OF_REPUTATION : LEAST
  if (Math.abs(then.value - last.value) > bound) {
    const text = textOfTrust(now)
    return { ...firstBasis(now), text: text === last.text ? `${text} again` : text }
  }
  return aged(last, now)
}

/** After nothing but time has passed. Small changes of a reputation add up until they cause an event. */
function aged(last: TrustBasis, { kind, value }: TrustIn): TrustBasis {
  return last.kind === 'reputation' || last.kind === 'default' ? last : { text: last.text, kind, value }
}

/** Does not change as time passes. */
export function textOfTrust({ kind, value, direct }: TrustIn): string {
  switch (kind) {
    case 'self':
    case 'default':
      return kind
    case 'direct':
      return `direct ${direct?.base ?? value}`
    case 'transitive':
      return `transitive ${value.toFixed(1)}`
    case 'reputation':
      return `reputation ${value}`
  }
}
