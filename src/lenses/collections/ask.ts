/**
 * Runs a query of the lens `collections`: searches several collections and answers with one list of results, with a warning for everything
 * that makes the list incomplete.
 */
import type { Deadline, Instant } from '../../base/clock.ts'
import type { Entry } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import { toIso } from '../../model/instant.ts'
import { MAX_LIMIT } from '../../model/limits.ts'
import type { CallContext } from '../../model/operation.ts'
import type { Note, Page } from '../../model/page.ts'
import type { QueryInput } from '../../model/query-input.ts'
import type { AccessScope } from '../../model/viewer.ts'
import type { CollectionAnswer, Source, SourceErrorCode, SourceKind } from '../../pipeline/source.ts'
import type { Answer } from '../../pipeline/stage.ts'
import { turnsUntil } from '../../pipeline/time-limit.ts'
import { snakeCased } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'
import { ChromaQueryError, type CollectionsInput, type CollectionsRequest, checkInput, notOpened } from './request.ts'
import { arranged, type DetailedResult, foundIn, resultOf } from './results.ts'
import { collectResults, undatedAmong, type Warning, warningsOf } from './stages.ts'

export interface CollectionsWorld {
  readonly source: Source
  readonly accessScope: AccessScope
  readonly now: Instant
  readonly deadline: Deadline
  /** Embeds a text with the model of a collection; null where no embedder is available. */
  embed(text: string, collection: string): Promise<Float32Array | null>
}

export interface CollectionsAnswer {
  readonly results: readonly DetailedResult[]
  readonly warnings: readonly Warning[]
  readonly meta: {
    readonly store: SourceKind
    readonly collections: readonly string[]
    /** Earliest date that a result may have, in UTC; null when the query has no limit of days. */
    readonly cutoff: string | null
    /** Number of results of the query on all pages. */
    readonly total: number
    readonly durationMs: number
    /**
     * Whether the results as a whole are relevant to the query, as the engine judges it; null where the store gives no judgement.
     * `verdict_reason`: the reason for this.
     */
    readonly verdict: Page['verdict'] | null
    readonly verdict_reason: string | null
    /** Ids of the nearest results, at most three, given when no result is relevant; else empty. */
    readonly nearest: readonly string[]
  }
}

/**
 * Runs a query on a store of another program, which ranks by vector distance alone. Throws `ChromaQueryError` for an invalid query, and
 * when every collection fails.
 */
export async function askCollections(input: CollectionsInput, world: CollectionsWorld): Promise<CollectionsAnswer> {
  const begin = performance.now()
  const request = checkInput(input, world.now)
  const { source, accessScope, deadline } = world
  const embed = (collection: string): Promise<Float32Array | null> =>
    world.embed(request.query, collection).catch((error: unknown) => {
      throw notOpened(error instanceof Error ? error.message : String(error), error)
    })
  const { query: text } = request
  const collected = await collectResults(request, deadline, async (collection, limit, where) => {
    const vector = await embed(collection)
    const asked = {
      accessScope,
      collections: [collection],
      text,
      vector,
      limit,
      where,
      anyTags: [],
      deadline,
    }
    return ((await source.ask(asked)).collections as readonly [CollectionAnswer])[0]
  })
  refuseOutage(collected)
  const turns = turnsUntil(deadline.signal)
  const found: (readonly DetailedResult[])[] = []
  for (const one of collected) found.push(await turns.run(foundIn(one, request)))
  const results = await turns.run(arranged(found.flat(), request))
  const { offset, limit, period } = request
  return {
    results: results.slice(offset, limit === undefined ? undefined : offset + limit),
    warnings: collected.flatMap((one, at) => warningsOf(one, undatedAmong(found[at] ?? [], period))),
    meta: {
      ...metaOf(request, begin),
      ...{ store: source.kind, total: results.length, nearest: [] },
      ...{ verdict: null, verdict_reason: `${source.kind} gives no verdict` },
    },
  }
}

/** Runs a query on Querent's own store. */
export async function askStore(host: LensHost, input: CollectionsInput, call: StoreCall): Promise<CollectionsAnswer> {
  const begin = performance.now()
  const request = checkInput(input, host.clock.now())
  const { offset, collections, nResults } = request
  const most = offset + Math.min(request.limit ?? Number.POSITIVE_INFINITY, collections.length * nResults)
  const results: DetailedResult[] = []
  const page = (cursor: string | undefined): Promise<Answer> => {
    const limit = Math.min(MAX_LIMIT, most - results.length)
    return host.query({ ...queryOf(input, call), limit, cursor }, call).catch(refused)
  }
  const answer = await page(undefined)
  for (let one = answer; ; ) {
    results.push(...detailed(one))
    const { cursor } = one.page
    if (cursor === null || results.length >= most) break
    one = await page(cursor)
  }
  const { verdict, reason, notes } = answer.page
  return {
    results: results.slice(offset),
    warnings: notes.flatMap(warningIn),
    meta: {
      ...metaOf(request, begin),
      ...{ store: 'local', total: answer.total, verdict, verdict_reason: reason },
      nearest: verdict === 'nothing_relevant' ? results.slice(0, MAX_NEAREST).map(({ id }) => id) : [],
    },
  }
}

const MAX_NEAREST = 3

function metaOf({ collections, period: { since } }: CollectionsRequest, begin: number) {
  return { collections, cutoff: since === null ? null : toIso(since), durationMs: performance.now() - begin }
}

export interface StoreCall extends Pick<CallContext, 'viewer' | 'signal'> {
  readonly timeoutMs: number
}

/** Converts a request of the lens `collections` to a query of the engine. */
export function queryOf(
  { query: text, offset: _offset, limit: _limit, ...options }: CollectionsInput,
  { timeoutMs }: Pick<StoreCall, 'timeoutMs'>,
): QueryInput {
  return { text, options: snakeCased(options), timeout_ms: timeoutMs }
}

function detailed({ page: { items }, entries }: Answer): readonly DetailedResult[] {
  return items.map((item, at) => {
    const { id, title, content, collection, metadata, tags, audience } = entries[at] as Entry
    const record = { id, holder: audience.holder, title, content, tags, metadata, distance: 1 - item.score }
    const own = { ...resultOf(record, collection, 'cosine'), rawScore: item.score }
    return {
      ...own,
      why: item.components['words'] === undefined ? own.why : (['vector', 'words'] as const),
      ...(item.related_ids !== undefined && { relatedIds: item.related_ids }),
    }
  })
}

/** Throws the error again; errors of the engine for which the lens has messages of its own (CO-023, CO-025) are replaced by those. */
function refused(error: unknown): never {
  if (!(error instanceof QuerentError) || error instanceof ChromaQueryError) throw error
  if (error.code === 'embedder_failed') throw notOpened(error.message, error)
  if (error.code !== 'deadline_exceeded') throw error
  throw new ChromaQueryError(`every collection failed: ${error.message}`, { code: 'timeout', cause: error })
}

function warningIn({ code, message, details = {} }: Note): readonly Warning[] {
  // The cast is safe: the details of this note were made by `warningsOf`, as the fields of a warning.
  return details['collection'] === undefined ? [] : [{ code, message, ...details } as unknown as Warning]
}

/** Error codes of failures that concern the whole store or the network, not a single collection. */
const STORE_FAILURES: readonly SourceErrorCode[] = ['unreachable', 'unauthenticated', 'package_missing', 'no_vector']

/** Throws when every collection failed, since an outage must not look like an empty answer. */
function refuseOutage(collected: readonly CollectionAnswer[]): void {
  const errors = collected.map(({ error }) => error)
  const isDown = errors.every(error => error !== null && error.code !== 'collection_not_found')
  const [first] = errors
  if (!isDown || first === undefined || first === null) return
  const messages = [...new Set(errors.map(error => error?.message ?? ''))].join('; ')
  if (errors.every(error => error !== null && STORE_FAILURES.includes(error.code))) throw notOpened(messages)
  throw new ChromaQueryError(`every collection failed: ${messages}`, { code: first.code })
}
