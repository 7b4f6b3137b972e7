/** The lens's question: several collections asked, one list answered, with everything that kept it from being whole. */
import type { Deadline, Instant } from '../../base/clock.ts'
import type { Steps } from '../../base/turns.ts'
import { toIso } from '../../model/instant.ts'
import type { Sight } from '../../model/viewer.ts'
import type { CollectionAnswer, Source, SourceErrorCode, SourceKind } from '../../pipeline/source.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { ChromaQueryError, notOpened } from './errors.ts'
import { foldRelated } from './fold.ts'
import { gather } from './gather.ts'
import { isBounded, undatedAmong } from './period.ts'
import { type CollectionsInput, type CollectionsRequest, checkInput } from './request.ts'
import { type DetailedResult, resultOf } from './result.ts'
import { fuseWithWords } from './words.ts'

export interface CollectionsWorld {
  readonly source: Source
  readonly sight: Sight
  readonly now: Instant
  readonly deadline: Deadline
  /** Null where nothing can embed it. */
  embed(text: string, collection: string): Promise<Float32Array | null>
}

export interface Warning {
  readonly collection: string
  readonly code: 'query_failed' | 'collection_not_found' | 'dimension_mismatch' | 'undated_kept' | 'not_normalised'
  readonly message: string
  /** Why a collection failed, in the source's word. */
  readonly reason?: SourceErrorCode | undefined
  readonly count?: number | undefined
}

export interface CollectionsAnswer {
  readonly results: readonly DetailedResult[]
  readonly warnings: readonly Warning[]
  readonly meta: {
    readonly store: SourceKind
    readonly collections: readonly string[]
    /** From when on, in UTC; null without a day filter. */
    readonly cutoff: string | null
    /** Results before paging. */
    readonly total: number
    readonly durationMs: number
  }
}

/** Lengths within this of 1 count as 1. */
const UNIT_TOLERANCE = 0.01

/** Throws `ChromaQueryError` for what cannot be asked, and when every collection fails. */
export async function askCollections(input: CollectionsInput, world: CollectionsWorld): Promise<CollectionsAnswer> {
  const begin = performance.now()
  const request = checkInput(input, world.now)
  const { source, sight, deadline } = world
  const embed = (collection: string): Promise<Float32Array | null> =>
    world.embed(request.query, collection).catch((error: unknown) => {
      throw notOpened(error instanceof Error ? error.message : String(error), error)
    })
  const gathered = await gather(request, { source, sight, deadline, embed })
  refuseOutage(gathered)
  const turns = turnsUntil(deadline.signal)
  const found: (readonly DetailedResult[])[] = []
  for (const one of gathered) found.push(await turns.run(foundIn(one, request)))
  const results = await turns.run(arranged(found.flat(), request))
  const { offset, limit, period, collections } = request
  return {
    results: results.slice(offset, limit === null ? undefined : offset + limit),
    warnings: gathered.flatMap((one, at) => warningsOf(one, undatedAmong(found[at] ?? [], period))),
    meta: {
      store: source.kind,
      collections,
      cutoff: isBounded(period) && period.since !== null ? toIso(period.since) : null,
      total: results.length,
      durationMs: performance.now() - begin,
    },
  }
}

/** What one collection has to say, best first. */
function* foundIn(
  { collection, records, space }: CollectionAnswer,
  { nResults, minScore, hybrid, query }: CollectionsRequest,
): Steps<readonly DetailedResult[]> {
  const results = records.map(record => resultOf(record, collection, space))
  const best = (hybrid ? yield* fuseWithWords(results, query) : results).slice(0, nResults)
  return best.filter(({ rawScore }) => minScore === null || rawScore >= minScore)
}

/** Best first; equal scores keep the order of the collections, then the store's. */
function* arranged(found: readonly DetailedResult[], request: CollectionsRequest): Steps<readonly DetailedResult[]> {
  const { hybrid, query } = request
  const byMeaning = [...found].sort((a, b) => b.rawScore - a.rawScore)
  const ordered = hybrid ? yield* fuseWithWords(byMeaning, query) : byMeaning
  yield
  return request.fold ? foldRelated(ordered) : ordered
}

/** The outside world as a whole, rather than one collection, is to blame for these. */
const STORE_FAILURES: readonly SourceErrorCode[] = ['unreachable', 'unauthenticated', 'package_missing', 'no_vector']

/** An outage must not look like an empty answer. */
function refuseOutage(gathered: readonly CollectionAnswer[]): void {
  const errors = gathered.map(({ error }) => error)
  const isDown = errors.every(error => error !== null && error.code !== 'collection_not_found')
  const [first] = errors
  if (!isDown || first === undefined || first === null) return
  const messages = [...new Set(errors.map(error => error?.message ?? ''))].join('; ')
  if (errors.every(error => error !== null && STORE_FAILURES.includes(error.code))) throw notOpened(messages)
  throw new ChromaQueryError(`every collection failed: ${messages}`, { code: first.code })
}

/** `undatedKept`: results that have no date although dates matter. */
function warningsOf({ collection, error, deviation }: CollectionAnswer, undatedKept: number): readonly Warning[] {
  const warnings: Warning[] = []
  if (error !== null) {
    const isNamed = error.code === 'collection_not_found' || error.code === 'dimension_mismatch'
    const code = isNamed ? (error.code as Warning['code']) : 'query_failed'
    warnings.push({ collection, code, message: error.message, reason: error.code })
  }
  if (deviation !== null && deviation > UNIT_TOLERANCE) {
    const message = `${collection}: its vectors are not of length 1, so its scores cannot be compared`
    warnings.push({ collection, code: 'not_normalised', message })
  }
  if (undatedKept > 0) {
    const message = `${collection}: ${undatedKept} without a date kept; --undated exclude leaves them out`
    warnings.push({ collection, code: 'undated_kept', message, count: undatedKept })
  }
  return warnings
}
