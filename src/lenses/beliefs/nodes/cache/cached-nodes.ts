/**
 * Asks other nodes, or takes what they answered a moment ago (BQ-137 to BQ-141). What is kept is verified beliefs as they
 * came: filters, trust, freshness, validity and sight are those of now, whoever was asked and when. Nothing is kept of an
 * answer in which somebody failed.
 */
import type { ShowView } from '../../access/show.ts'
import { countersOf } from '../../counters.ts'
import type { BeliefsState } from '../../state.ts'
import { TimeLimit } from '../../time-limit.ts'
import { askNodes, type NodesRequest } from '../asking/ask-nodes.ts'
import type { NodesAnswer } from '../guest.ts'
import { followAnswer, nameOf, watchesOf } from '../notices/watches.ts'
import { cacheKey } from './cache-key.ts'
import { KeptAnswers } from './kept-answers.ts'

/** Durations behind its end for which an answer may still be shown while it is asked for anew. */
const STALE_DURATIONS = 10
/** What asking anew may take when nobody waits for it. */
const REFRESH_MS = 30_000

export interface CachedAnswer {
  readonly answer: NodesAnswer
  /** It is older than it should be, and is asked for anew. */
  readonly isStale: boolean
}

interface NodeCache {
  readonly kept: KeptAnswers
  /** Keys that are asked for anew now. */
  readonly refreshing: Set<string>
}

const CACHES = new WeakMap<BeliefsState, NodeCache>()

export function nodeCacheOf(state: BeliefsState): NodeCache {
  const known = CACHES.get(state)
  if (known !== undefined) return known
  const made = { kept: new KeptAnswers(), refreshing: new Set<string>() }
  CACHES.set(state, made)
  if (state.settings.invalidateOnUpdate) dropWhatChanged(state, made.kept)
  return made
}

/** As nodes tell it (BQ-140). */
function dropWhatChanged({ settings, host }: BeliefsState, kept: KeptAnswers): void {
  const lifetime = settings.cacheDurationMs * (settings.staleWhileRevalidate ? 1 + STALE_DURATIONS : 1)
  const watches = watchesOf(host)
  watches.neededBy(watched => {
    const [name, now] = [nameOf(watched), host.clock.now()]
    return kept.some(({ states, at }) => states.has(name) && now - at < lifetime)
  })
  watches.listen((watched, now) => {
    const name = nameOf(watched)
    kept.dropThose(({ states }) => states.has(name) && states.get(name) !== now)
  })
}

function keepAnswer(
  { state, requester, asOf }: NodesRequest,
  key: string,
  kept: KeptAnswers,
  answer: NodesAnswer,
): void {
  const states = answer.answers.map(({ source, state: seen }) => [nameOf({ source, requester }), seen] as const)
  kept.keep(key, answer, new Map(states), asOf)
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
