/**
 * Selects and orders the results of an answer after scoring: merges lists from several sources (BQ-127 to BQ-129), resolves conflicts
 * between results that contradict each other (BQ-174), and applies diversity within hard limits (BQ-084, BQ-085).
 */
import { compareText } from '../../../base/compare.ts'
import { type Chosen, chooseInto, type Group } from '../../../math/mmr.ts'
import { cosines } from '../../../math/vector.ts'
import {
  type Contradiction,
  type ContradictionDetector,
  MIN_SCORE,
  SAME_TOPIC,
  type Statement,
  statementOf,
} from '../contradiction/heuristic.ts'
import { twelveDecimals } from '../measures/confidence.ts'
import { type Belief, type Conflict, type MergeStrategy, SCOPE_KINDS } from '../model.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Picked, ScoredBelief } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedDiversity } from '../schema/query.ts'
import { likenessBy, vectorsOf } from '../state.ts'

/** Merges results from several sources by a strategy. `results`: all results in the order of their scores. */
export function merged(strategy: MergeStrategy, results: readonly ScoredBelief[]): readonly ScoredBelief[] {
  switch (strategy) {
    case 'rerank':
      return results
    case 'interleave':
      return interleaved(bySource(results))
    case 'waterfall':
      return SCOPE_KINDS.flatMap(kind => results.filter(({ source }) => source.kind === kind))
  }
}

/** Results grouped by source: the requester's own first, then federations by id, then network nodes by id, this node before the others. */
function bySource(results: readonly ScoredBelief[]): readonly (readonly ScoredBelief[])[] {
  const lists = new Map<string, ScoredBelief[]>()
  for (const result of results) {
    const name = nameOf(result)
    const list = lists.get(name)
    if (list === undefined) lists.set(name, [result])
    else list.push(result)
  }
  return [...lists].sort(([a], [b]) => compareText(a, b)).map(([, list]) => list)
}

function nameOf({ source: { kind, id } }: ScoredBelief): string {
  return `${SCOPE_KINDS.indexOf(kind)} ${id ?? ''}`
}

/** Takes the best result of each source in turn, then the second-best of each, and so on; sources without further results are skipped. */
function interleaved(sources: readonly (readonly ScoredBelief[])[]): readonly ScoredBelief[] {
  const longest = Math.max(0, ...sources.map(list => list.length))
  return Array.from({ length: longest }, (_, at) => sources.flatMap(list => list[at] ?? [])).flat()
}

/** What happens to the lower-ranked of two results that contradict each other. */
export type ConflictStrategy = Conflict['resolution']

/** Number of results, from the top of an answer, that are searched for contradictions; each of them is compared with every other. */
export const MAX_COMPARED = 100

/** Two results that contradict each other, by their positions in the list of results; `first` is the smaller position. */
interface FoundConflict {
  readonly first: number
  readonly second: number
  readonly contradiction: Contradiction
}

/**
 * Finds results of one answer that contradict each other (BQ-174). `vectors`: of the results, by position; if one is missing, the detector
 * alone decides whether two results have the same topic. `from`: results before this position have already been compared with each other.
 * `goesOn`: called before each comparison, since a detector may be slow; if it returns false, the search ends with the conflicts found so
 * far.
 */
export function findConflicts(
  detector: ContradictionDetector,
  list: readonly Belief[],
  vectors: readonly (Float32Array | undefined)[],
  { from = 0, goesOn = () => true }: { readonly from?: number; readonly goesOn?: () => boolean } = {},
): readonly FoundConflict[] {
  const statements = list.map(statementOf)
  const found: FoundConflict[] = []
  for (const [first, statement] of statements.entries()) {
    const start = Math.max(first + 1, from)
    const own = vectors[first]
    // A missing vector is replaced by the statement's own: the topic is then the same, so the detector decides.
    const near =
      own === undefined
        ? null
        : cosines(
            own,
            vectors.slice(start).map(vector => vector ?? own),
          )
    for (let second = start; second < list.length; second++) {
      if (near !== null && (near[second - start] as number) < SAME_TOPIC) continue
      if (!goesOn()) return found
      const contradiction = detector.detect(statement, statements[second] as Statement)
      if (contradiction !== null && contradiction.score > MIN_SCORE) found.push({ first, second, contradiction })
    }
  }
  return found
}

interface Settled {
  /** Positions, in the original list, of the results that are shown, in the order in which they are shown. */
  readonly order: readonly number[]
  /**
   * Conflicts to report, with positions in the original list; `first` is the result that is shown first, or the only one of the two that is
   * shown.
   */
  readonly conflicts: readonly FoundConflict[]
}

/**
 * Resolves conflicts: the lower-ranked of two contradicting results is moved behind all results that stay, or is left out. A result that
 * was itself moved or left out has no effect on those below it, so the outcome for a result depends only on the results above it.
 */
export function settleConflicts(
  length: number,
  found: readonly FoundConflict[],
  strategy: Exclude<ConflictStrategy, 'both_shown'>,
): Settled {
  const lower = new Set<number>()
  // Conflicts come in the order of their higher-ranked result, so it is already decided whether that result stays.
  for (const { first, second } of found) if (!lower.has(first)) lower.add(second)
  const places = Array.from({ length }, (_, place) => place)
  const kept = places.filter(place => !lower.has(place))
  if (strategy === 'one_excluded') return { order: kept, conflicts: found.filter(({ first }) => !lower.has(first)) }
  const order = [...kept, ...places.filter(place => lower.has(place))]
  const turned = ({ first, second, contradiction }: FoundConflict) => ({ first: second, second: first, contradiction })
  return { order, conflicts: found.map(one => (lower.has(one.first) && !lower.has(one.second) ? turned(one) : one)) }
}

/** A conflict in the form that answers have. `ids`: the two results, first the one that is shown first. */
export function conflictOf(
  ids: readonly [string, string],
  { type, text }: Contradiction,
  strategy: ConflictStrategy,
): Conflict {
  return {
    belief_ids: [...ids],
    contradiction_type: type,
    resolution: strategy,
    resolution_reason: `${REASONS[strategy]} ${text}`,
  }
}

const REASONS: Readonly<Record<ConflictStrategy, string>> = {
  both_shown: 'Both are shown; which of them is true is not decided here.',
  one_penalized:
    'The second is ranked behind the rest of the first hundred, by the settings of this node; its score is unchanged.',
  one_excluded: 'The second is left out, by the settings of this node.',
}

/** Maximum number of top results from which diversity selects. */
export const POOL = 1_000

interface Spread {
  /**
   * Weight of a result's relevance, 0 to 1; the rest is the weight of being different from the results already selected. With 1 the order
   * by relevance is kept.
   */
  readonly lambda: number
  /** Minimum cosine distance (1 - cosine) between any two selected results, 0 to 1; null: no minimum. */
  readonly minDistance: number | null
  readonly maxPerHolder: number | null
  readonly maxPerDomain: number | null
  /**
   * Whether candidates are taken in their present order, so that nothing is done except to apply the limits on distance, results per holder
   * and results per domain (BQ-131).
   */
  readonly keepsOrder?: boolean | undefined
}

interface SpreadRequest extends Spread {
  /** Candidates for selection, in the order of their scores; the constant `POOL` is their maximum number. */
  readonly pool: readonly ScoredBelief[]
  domains(scored: ScoredBelief): readonly string[]
  /** Cosine of the vectors of two candidates, given by their positions; may be negative. */
  likeness(a: number, b: number): number
  /** Called when the maximum number of results per holder excludes a belief from a federation that does not show its holders. */
  onFederationLimit?(federation: string): void
}

/** Selects results one after the other by diversity; each is computed only when it is read. */
export function* spread(request: SpreadRequest): Generator<Picked> {
  const { pool, lambda, minDistance, keepsOrder = false, likeness } = request
  const chosen: Chosen[] = []
  const steps = chooseInto(
    {
      count: pool.length,
      limit: pool.length,
      lambda: keepsOrder ? 1 : lambda,
      score: at => (keepsOrder ? -at : (pool[at] as ScoredBelief).final),
      // A negative cosine counts as 0: a result of opposite direction is as different as an unrelated one.
      likeness: (a, b) => Math.max(0, likeness(a, b)),
      groups: at => groupsOf(pool[at] as ScoredBelief, request),
      ...(minDistance !== null && { admits: (near: number) => twelveDecimals(1 - near) >= minDistance }),
      leftOut: (at, { name }) => {
        const scored = pool[at] as ScoredBelief
        const { id } = scored.source
        if (scored.holder === null && id !== null && name === holderGroup(scored)) request.onFederationLimit?.(id)
      },
    },
    chosen,
  )
  for (let given = 0, isOver = false; !isOver; ) {
    isOver = steps.next().done === true
    for (; given < chosen.length; given++) {
      const { item, likeness: near } = chosen[given] as Chosen
      yield { scored: pool[item] as ScoredBelief, penalty: keepsOrder ? 0 : 0 - (1 - lambda) * near }
    }
  }
}

function groupsOf(scored: ScoredBelief, { maxPerHolder, maxPerDomain, domains }: SpreadRequest): readonly Group[] {
  const groups: Group[] = maxPerHolder === null ? [] : [{ name: holderGroup(scored), cap: maxPerHolder }]
  if (maxPerDomain === null) return groups
  return [...groups, ...[...new Set(domains(scored))].map(domain => ({ name: `domain ${domain}`, cap: maxPerDomain }))]
}

/**
 * Name of the group to which a result belongs when the maximum number of results per holder is applied: its holder. All beliefs of a
 * federation that does not show holders form one group.
 */
function holderGroup({ holder, source }: ScoredBelief): string {
  return holder === null ? `federation ${source.id}` : `holder ${holder}`
}

interface DiversityRequest {
  readonly pool: readonly ScoredBelief[]
  readonly keepsOrder?: boolean
  /**
   * Federations that do not show holders, and from which a belief was excluded by the maximum number of results per holder; the selection
   * adds to this set.
   */
  readonly limited: Set<string>
}

/**
 * Warnings for federations that do not show holders: the limit per holder counted each of them as one holder, not its members separately
 * (BQ-084).
 */
export function limitWarnings(limited: ReadonlySet<string>): readonly CheckedWarning[] {
  return [...limited].sort().map(federation => ({
    code: 'federation_limited',
    message: `max_per_holder counts the federation ${federation} as one holder, because it shows no holders: it has more beliefs that match.`,
  }))
}

/**
 * Selects results by diversity from the top results of an answer, only as many as are read. `keepsOrder`: takes them in their present
 * order, so that only the limits (on distance, holders and domains) apply. Changes of the store after the start do not affect the
 * selection.
 */
export function diversely(
  evaluation: Evaluation,
  diversity: CheckedDiversity,
  { pool, keepsOrder = false, limited }: DiversityRequest,
): Generator<Picked> {
  const { columns, remotes } = evaluation.view
  const needsVectors = diversity.minDistance !== null || (diversity.lambda < 1 && !keepsOrder)
  const vectors = needsVectors ? vectorsOf(evaluation.view, pool) : []
  const domains = new Map(
    pool.map(({ entry, row }) => [entry, remotes?.get(entry)?.belief.domains ?? columns.domainsOf(row)]),
  )
  return spread({
    ...diversity,
    keepsOrder,
    pool,
    domains: ({ entry }) => domains.get(entry) as readonly string[],
    likeness: likenessBy(vectors),
    onFederationLimit: federation => void limited.add(federation),
  })
}
