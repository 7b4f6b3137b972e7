/**
 * Asks other nodes, or takes what they answered a moment ago (BQ-137 to BQ-141). What is kept is verified beliefs as they
 * came: filters, trust, freshness, validity and sight are those of now, whoever was asked and when. Nothing is kept of an
 * answer in which somebody failed. The key has all of this node's own that bears on what the requester is shown; what he may
 * not see has no part in it, so that it changes nothing, not even what is kept (BQ-111).
 */

import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { onePer } from '../../../base/one-per.ts'
import { Recent } from '../../../base/recent.ts'
import { MEMBERSHIPS } from '../../../store/core-tables.ts'
import type { ShowView } from '../access/show.ts'
import { countersOf } from '../beliefs-counters.ts'
import { questionHash } from '../paging/held-order.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { TRUST } from '../tables.ts'
import { TimeLimit } from '../time-limit.ts'
import { askNodes, type NodesRequest } from './asking/ask-nodes.ts'
import type { AskedSource, NodesAnswer } from './guest.ts'
import { followAnswer, nameOf, watchesOf } from './notices/watches.ts'

interface KeptAnswer {
  readonly answer: NodesAnswer
  /** By the name of the source: what the requester may see there, as it was called then. */
  readonly states: ReadonlyMap<string, string>
  /** When it was asked for. */
  readonly at: Instant
  readonly bytes: number
}

const MAX_ENTRIES = 10_000
const MAX_BYTES = 64 * 2 ** 20
/** Of a guest, beside its content and vector. */
const GUEST_BYTES = 1_500

type KeptAnswers = Recent<string, KeptAnswer>

/** Near enough. */
function bytesOf({ answers }: NodesAnswer): number {
  return answers
    .flatMap(({ guests }) => guests)
    .reduce((sum, { belief, vector }) => sum + GUEST_BYTES + 2 * belief.content.length + (vector?.byteLength ?? 0), 0)
}

function cacheKey(view: ShowView, query: CheckedQuery, sources: readonly AskedSource[]): string {
  const { requester, columns, model } = view
  const { partitions } = requester.accessScope
  const parts = [
    questionHash(query),
    query.options.maxResultsPerNode,
    model,
    sources.map(({ kind, id, peer }) => [kind, id, peer.did]),
    requester.id,
    ownTrust(view),
    ownMemberships(view),
    [...partitions],
    columns.changesIn(partitions),
  ]
  return sha256(canonicalJson(parts))
}

/** As the requester has stated it; that an edge was used changes nothing. */
function ownTrust({ reader, requester }: ShowView): string {
  const columns = ['target', 'level', 'domains', 'updated_at']
  return JSON.stringify(reader.table(TRUST).scan({ owner: requester.id }, { columns }))
}

function ownMemberships({ reader, requester }: ShowView): string {
  return JSON.stringify(reader.table(MEMBERSHIPS).scan({ agent: requester.id }))
}

/** Durations behind its end for which an answer may still be shown while it is asked for again. */
const STALE_DURATIONS = 10
/** What asking again may take when nobody waits for it. */
const REFRESH_MS = 30_000

export interface CachedAnswer {
  readonly answer: NodesAnswer
  /** It is older than it should be, and is asked for again. */
  readonly isStale: boolean
}

interface NodeCache {
  readonly kept: KeptAnswers
  /** Keys that are asked for again now. */
  readonly refreshing: Set<string>
}

export const nodeCacheOf: (state: BeliefsState) => NodeCache = onePer(state => {
  const kept: KeptAnswers = new Recent(MAX_ENTRIES, { max: MAX_BYTES, of: ({ bytes }) => bytes })
  if (state.settings.invalidateOnUpdate) dropWhatChanged(state, kept)
  return { kept, refreshing: new Set<string>() }
})

/** As nodes tell it (BQ-140). */
function dropWhatChanged({ settings, host }: BeliefsState, kept: KeptAnswers): void {
  const lifetime = settings.cacheDurationMs * (settings.staleWhileRevalidate ? 1 + STALE_DURATIONS : 1)
  const watches = watchesOf(host)
  watches.neededBy(watched => {
    const [name, now] = [nameOf(watched), host.clock.now()]
    return kept.entries().some(([, { states, at }]) => states.has(name) && now - at < lifetime)
  })
  watches.listen((watched, now) => {
    const name = nameOf(watched)
    kept.forget((_, { states }) => states.has(name) && states.get(name) !== now)
  })
}

function keepAnswer(
  { state, requester, asOf }: NodesRequest,
  key: string,
  kept: KeptAnswers,
  answer: NodesAnswer,
): void {
  const states = answer.answers.map(({ source, state: seen }) => [nameOf({ source, requester }), seen] as const)
  kept.set(key, { answer, states: new Map(states), at: asOf, bytes: bytesOf(answer) })
  if (state.settings.invalidateOnUpdate) followAnswer(state.host, requester, answer)
}

export async function askOrRecall(request: NodesRequest): Promise<CachedAnswer> {
  const { state, requester, query, sources, asOf, time } = request
  const { cacheDurationMs: duration, staleWhileRevalidate: mayBeStale } = state.settings
  if (duration === 0) return { answer: await askNodes(request), isStale: false }
  const { kept, refreshing } = nodeCacheOf(state)
  const key = state.look(requester, (view: ShowView) => cacheKey(view, query, sources), time)
  const found = kept.find(key)
  const age = found === undefined ? Number.POSITIVE_INFINITY : asOf - found.at
  const isGood = age >= 0 && age < duration
  const isStale = !isGood && mayBeStale && age >= 0 && age < (1 + STALE_DURATIONS) * duration
  countersOf(state.host).countCache(isGood || isStale)
  if (found !== undefined && isGood) return { answer: found.answer, isStale: false }
  if (found !== undefined && isStale) {
    refresh(request, key, kept, refreshing)
    return { answer: found.answer, isStale: true }
  }
  const answer = await askNodes(request)
  if (answer.failures.length === 0) keepAnswer(request, key, kept, answer)
  return { answer, isStale: false }
}

/** One at a time for a key; one that fails leaves what there is. */
function refresh(request: NodesRequest, key: string, kept: KeptAnswers, refreshing: Set<string>): void {
  if (refreshing.has(key)) return
  refreshing.add(key)
  const time = new TimeLimit(Math.min(REFRESH_MS, request.query.options.timeoutMs), new AbortController().signal)
  askNodes({ ...request, time })
    .then(answer => {
      if (answer.failures.length === 0) keepAnswer(request, key, kept, answer)
    })
    .catch(() => undefined)
    .finally(() => refreshing.delete(key))
}
