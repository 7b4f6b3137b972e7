/**
 * An answer piece by piece, in its order, each piece checked against the matrix as it leaves (BQ-150 to BQ-155). A piece is
 * made when it is asked for, and not before. Between pieces the order is held as that of pages is, and nothing else.
 */
import { asPart } from '../answer/show-page.ts'
import { countersOf } from '../beliefs-counters.ts'
import { BeliefsError } from '../errors.ts'
import { concentrationWarnings, isOfConcentration, shareOf, type TrustShare } from '../explain/belief-explanation.ts'
import type { QueryResult, RankedBelief } from '../model.ts'
import type { Call } from '../query/asked.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { BeliefsState } from '../state.ts'
import { openReading, type Reading } from './reading.ts'

export interface QueryChunk {
  readonly beliefs: readonly RankedBelief[]
  /** Of the way; never falls, and is 1 in the last chunk alone. */
  readonly progress: number
  readonly done: boolean
  /** Between beliefs of this chunk; absent: there are none. */
  readonly conflicts?: QueryResult['conflicts']
}

/** Says of the whole what a page says of itself. */
export interface LastChunk
  extends QueryChunk,
    Pick<QueryResult, 'total_count' | 'count_exact' | 'next_cursor' | 'partial' | 'coverage'>,
    Pick<QueryResult, 'errors' | 'effective_weights' | 'as_of' | 'warnings'>,
    Pick<QueryResult, 'verdict' | 'verdict_reason' | 'verdict_by' | 'nearest'> {
  readonly done: true
}

/** Progress of a chunk that is not the last. */
const MAX_BEFORE_END = 0.99

export async function* streamQuery(
  state: BeliefsState,
  query: CheckedQuery,
  call: Call,
): AsyncGenerator<QueryChunk | LastChunk, void> {
  const { limit, chunkSize } = query.options
  const reading = await openReading(state, query, call)
  const before = reading.passed
  const ending = new Ending()
  let [read, shown, spentMs, progress] = [0, 0, 0, 0]
  try {
    for (let isLast = false; !isLast; ) {
      const started = performance.now()
      const piece = await nextOf(reading, Math.min(chunkSize, limit - read), read === 0)
      const { beliefs, conflicts, total_count: total } = ending.with(piece)
      shown += beliefs.length
      read = reading.passed - before
      isLast = piece instanceof BeliefsError || !reading.hasMore || read >= limit
      const cursor = isLast ? reading.cursor() : null
      if (!isLast) reading.keep()
      spentMs += performance.now() - started
      progress = Math.max(progress, Math.min(MAX_BEFORE_END, read / Math.min(limit, Math.max(1, total - before))))
      const chunk = { beliefs, ...(conflicts.length > 0 && { conflicts }) }
      yield isLast
        ? { ...chunk, progress: 1, done: true, ...ending.told(query, call.requester, cursor) }
        : { ...chunk, progress, done: false }
    }
  } finally {
    reading.release()
    countersOf(state.host).countQuery(spentMs, shown)
  }
}

/** Where something was told already, want of time or of its order ends a stream with a part of the answer. */
async function nextOf(reading: Reading, limit: number, isFirst: boolean): Promise<QueryResult | BeliefsError> {
  try {
    await reading.goOn()
    return await reading.next(limit)
  } catch (thrown) {
    if (isFirst || !(thrown instanceof BeliefsError)) throw thrown
    if (thrown.code !== 'TIMEOUT' && thrown.details['reason'] !== 'cursor_expired') throw thrown
    return thrown
  }
}

/** What pieces say of themselves, as one page of all of them would say it. */
class Ending {
  readonly #shares: TrustShare[] = []
  readonly #errors = new Map<string, QueryResult['errors'][number]>()
  #isPartial = false
  #last: QueryResult | null = null

  /** A piece, or why there is none. */
  with(piece: QueryResult | BeliefsError): QueryResult {
    const errors = piece instanceof BeliefsError ? [asPart(piece)] : piece.errors
    // Want of time is told once, however many pieces had too little.
    for (const error of errors) this.#errors.set(String(error['code']), error)
    this.#isPartial ||= piece instanceof BeliefsError || piece.partial
    if (!(piece instanceof BeliefsError)) {
      this.#shares.push(...piece.beliefs.map(shareOf))
      this.#last = { ...piece, beliefs: [], conflicts: [] }
      return piece
    }
    return this.#end
  }

  told({ options }: CheckedQuery, requester: string, cursor: string | null): Told {
    const { total_count, count_exact, coverage, effective_weights, as_of, warnings, ...rest } = this.#end
    const { verdict, verdict_reason, verdict_by, nearest } = rest
    // What a piece says of its own trust is not so of the whole.
    const others = warnings.filter(({ code }) => !isOfConcentration(code))
    const concentration = options.includeExplanation ? concentrationWarnings(this.#shares, requester) : []
    return {
      ...{ total_count, count_exact, as_of, coverage, effective_weights },
      ...(verdict !== undefined && { verdict, verdict_reason, verdict_by, nearest }),
      partial: this.#isPartial,
      errors: [...this.#errors.values()],
      warnings: [...others, ...concentration],
      ...(cursor !== null && { next_cursor: cursor }),
    }
  }

  get #end(): QueryResult {
    if (this.#last === null) throw new Error('invariant broken: a stream ends before its first piece')
    return this.#last
  }
}

type Told = Omit<LastChunk, keyof QueryChunk>
