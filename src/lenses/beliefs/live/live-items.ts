/**
 * Converts the beliefs of an answer to items of a live query. Each item has a text that says how trust in the belief's holder came about
 * (the basis of trust). The text does not change merely because time passes; when it changes, the item is sent again.
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

/**
 * Key of a belief that stays the same through all its versions: holder and chain of versions. It is never sent to the client, because it
 * contains the holder's name.
 */
export function keyOf({ holder, chain }: { readonly holder: string; readonly chain: string }): string {
  return JSON.stringify([holder, chain])
}

export function holderOfKey(key: string): string {
  return (JSON.parse(key) as [string, string])[0]
}

/** Chain of versions contained in an item's key: the id of the belief's first version. */
export function chainOfKey(key: string): string {
  return (JSON.parse(key) as [string, string])[1]
}

/** An item of a live query without rank, score and the basis of the score. */
export function itemOf(shown: ShownBelief, view: ShowView): UnratedItem {
  return { ...saidBy(shown.belief), key: keyOf(shown.version), since: sinceOf(shown, view) }
}

type UnratedItem = Omit<LiveItem, 'rank' | 'score' | 'standing'>

/** The fields of an item that depend only on the belief. */
function saidBy(belief: Belief): Omit<UnratedItem, 'key' | 'since'> {
  return {
    id: belief.id,
    version: canonicalJson(VERSION_PARTS.map(name => belief[name]) as JsonObject['']),
    // The cast is safe: a belief as shown to a requester contains only JSON values.
    shown: belief as unknown as JsonObject,
    fields: fieldsOf(belief),
  }
}

/**
 * Fields whose change makes a new version of a belief. Derivation sources are left out: a source that merely becomes visible or hidden
 * makes no new version.
 */
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

/** Creation time of the oldest version that the requester may read; the times of earlier versions are not revealed. */
function sinceOf({ belief, version }: ShownBelief, view: ShowView): Instant {
  if (belief.supersedes === null) return version.createdAt
  return historyOf(view, version.holder, version.chain).at(-1)?.version.createdAt ?? version.createdAt
}

/** Item of a live query for a belief from another node. */
export function remoteItem(remote: RemoteBelief): UnratedItem {
  const { belief } = remote
  return { ...saidBy(belief), key: keyOfRemote(remote), since: Date.parse(belief.created_at) }
}

/** Key of a belief from another node, which stays the same through all versions of the belief. */
export function keyOfRemote({ node, source, chain }: RemoteBelief): string {
  return JSON.stringify([MARK, source.kind, source.id, node, chain])
}

const MARK = 'node'
const PARTS = 5

/**
 * Source and node contained in the key of an item from another node; null: the item is from this node's own store, whose keys have only two
 * parts.
 */
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

/** For all beliefs of one answer, the bases of trust: the values from which the requester's trust in each belief's holder was computed. */
export interface TrustBases {
  /** Basis of trust, by the key of the item. */
  readonly of: ReadonlyMap<string, TrustBasis>
  readonly asOf: Instant
  /** Revision number of the requester's trust as of the answer. */
  readonly trust: number
}

/**
 * The basis of trust (the values from which trust in the holder was computed) of an item in a new answer.
 * `now`: trust with which the item is scored. `before`: basis of the item in the last answer, if it was in it. `then`: the present trust
 * graph as of the time of the last answer; null if only time has passed.
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

/**
 * Smallest changes of trust that cause an item to be sent again: `LEAST` in general, `MIN_OF_REPUTATION` for trust by reputation. The
 * latter corresponds to a change of the reputation by 0.1 (BQ-158), because trust by reputation is 0.3 times the reputation.
 */
const LEAST = 1e-4
const MIN_OF_REPUTATION = 0.03 + 1e-9

function firstBasis(trust: TrustIn): TrustBasis {
  const { kind, value } = trust
  return { kind, value, text: textOfTrust(trust) }
}

/**
 * The new basis of trust of an item after trust has changed. `then`: the trust that the present trust graph gives for the time of the last
 * answer. It is compared with the trust of that answer, so that mere passing of time makes no difference.
 */
function basisAfter(last: TrustBasis, then: TrustIn, now: TrustIn): TrustBasis {
  const isReputation = (kind: TrustIn['kind']) => kind === 'reputation' || kind === 'default'
  const bound = isReputation(last.kind) && isReputation(then.kind) ? MIN_OF_REPUTATION : LEAST
  if (Math.abs(then.value - last.value) > bound) {
    const text = textOfTrust(now)
    return { ...firstBasis(now), text: text === last.text ? `${text} again` : text }
  }
  return aged(last, now)
}

/**
 * The basis of trust of an item if nothing but time has changed, or if the change was too small to send the item again. For trust by
 * reputation the old value is kept, so that several small changes add up until they are large enough.
 */
function aged(last: TrustBasis, { kind, value }: TrustIn): TrustBasis {
  return last.kind === 'reputation' || last.kind === 'default' ? last : { text: last.text, kind, value }
}

/**
 * Text for the kind of trust in a holder (such as direct, transitive or reputation) and its value. Direct trust is given as before fading,
 * and transitive trust rounded to tenths, so that the text does not change with every bit of fading.
 */
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
