/** Selects beliefs for a purpose, as many as fit into a number of tokens (BQ-176). */
import { toIso } from '../../../model/instant.ts'
import { countTokens, TOKEN_COUNTER } from '../../../text/blocks.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { type ShownBelief, showCurrent } from '../access/show.ts'
import { listed } from '../answer/show-page.ts'
import { foldContent, tokensOf } from '../matching/operators.ts'
import { asked, type Call, type Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { sourcesOf } from '../record/read.ts'
import type { CheckedContextQuery, contextAnswer, Purpose } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import { type BeliefsState, likenessBy, vectorsOf } from '../state.ts'

interface Candidate {
  readonly tokens: number
  readonly parts: Omit<UtilityParts, 'novelty'>
}

interface Taken {
  /** Position of the belief among the candidates. */
  readonly place: number
  readonly utility: number
  readonly novelty: number
}

interface FillRequest {
  /** Candidates in the total order: of equal utility, the earlier one is taken. */
  readonly candidates: readonly Candidate[]
  readonly purpose: Purpose
  /** Hard limit on the number of tokens. */
  readonly maxTokens: number
  /** When this number of tokens is reached, nothing more is taken. */
  readonly targetTokens: number
  /** Raw cosine of two candidates, by their positions. */
  likeness(a: number, b: number): number
  /** Called before each selection of a belief; may throw. */
  look?(): void
}

/**
 * Greedy selection under a hard limit of tokens: repeatedly takes the most useful belief that fits; similarity to those already taken
 * lowers the utility.
 */
export function fill({ candidates, purpose, maxTokens, targetTokens, likeness, look }: FillRequest): readonly Taken[] {
  const taken: Taken[] = []
  const open = new Set(candidates.keys())
  /** Highest similarity to a selected belief, by position. */
  const likest = new Float64Array(candidates.length)
  let total = 0
  while (total < targetTokens) {
    look?.()
    let best: Taken | null = null
    for (const place of open) {
      const { tokens, parts } = candidates[place] as Candidate
      if (total + tokens > maxTokens) continue
      const novelty = 1 - (likest[place] as number)
      const value = utility({ ...parts, novelty }, purpose)
      if (best === null || value > best.utility) best = { place, utility: value, novelty }
    }
    if (best === null) break
    taken.push(best)
    open.delete(best.place)
    total += (candidates[best.place] as Candidate).tokens
    // Similarity never counts below 0: the opposite of a selected belief is as new as an unrelated one.
    for (const other of open) likest[other] = Math.max(likest[other] as number, likeness(best.place, other))
  }
  return taken
}

interface UtilityParts {
  /** Semantic score for the query's text; 0 in list mode. */
  readonly relevance: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
  /** Information density: number of different content words per token, at most 1. */
  readonly density: number
  /** Novelty: 1 minus the highest cosine to a selected belief. */
  readonly novelty: number
}

export const PURPOSE_WEIGHTS: Readonly<Record<Purpose, UtilityParts>> = {
  answer: weights(0.3, 0.3, 0.2, 0.1, 0.05, 0.05),
  verify: weights(0.2, 0.4, 0.2, 0.1, 0.05, 0.05),
  explore: weights(0.2, 0.1, 0.1, 0.1, 0.1, 0.4),
  decide: weights(0.25, 0.25, 0.25, 0.15, 0.05, 0.05),
  create: weights(0.2, 0.1, 0.1, 0.05, 0.15, 0.4),
}

/** Utility of a belief for a purpose, 0 to 1. */
export function utility(parts: UtilityParts, purpose: Purpose): number {
  const by = PURPOSE_WEIGHTS[purpose]
  return (
    by.relevance * parts.relevance +
    by.confidence * parts.confidence +
    by.trust * parts.trust +
    by.recency * parts.recency +
    by.density * parts.density +
    by.novelty * parts.novelty
  )
}

function weights(
  relevance: number,
  confidence: number,
  trust: number,
  recency: number,
  density: number,
  novelty: number,
): UtilityParts {
  return { relevance, confidence, trust, recency, density, novelty }
}

/** Number of results, best first, from which beliefs are selected. */
const POOL = 500

/** Answers a context query. The query's limit, offset and cursor have no effect: the tokens decide. */
export function contextQuery(
  state: BeliefsState,
  asking: CheckedContextQuery,
  call: Call,
): Promise<Value<typeof contextAnswer>> {
  const { query, purpose, maxTokens, targetTokens } = asking
  return asked(state, query, call, (evaluation, warnings) => {
    const pool = evaluation.best(POOL)
    const shown = new Map(shownOf(evaluation, pool).map(belief => [belief.entry, belief]))
    const visible = pool.filter(({ entry }) => shown.has(entry))
    const contents = visible.map(({ entry }) => (shown.get(entry) as ShownBelief).belief.content)
    const vectors = vectorsOf(evaluation.view, visible)
    const look = () => evaluation.view.time?.check()
    const candidates = visible.map((scored, at) => {
      look()
      return candidateOf(scored, contents[at] as string, maxTokens)
    })
    const taken = fill({ candidates, purpose, maxTokens, targetTokens, likeness: likenessBy(vectors), look })
    const scored = taken.map(({ place }) => visible[place] as ScoredBelief)
    const beliefs = listed(evaluation, scored).map((each, at) => {
      const { place, utility, novelty } = taken[at] as (typeof taken)[number]
      return { ...each, tokens: candidates[place]?.tokens ?? 0, utility, novelty }
    })
    const tokens = beliefs.reduce((sum, each) => sum + each.tokens, 0)
    return {
      purpose,
      beliefs,
      total_tokens: tokens,
      max_tokens: maxTokens,
      target_tokens: targetTokens,
      truncated: taken.length < evaluation.matches.count,
      confidence_floor: taken.length === 0 ? null : Math.min(...scored.map(({ parts }) => parts.confidence)),
      expandable: expandable(evaluation, scored, shown),
      token_counter: { name: TOKEN_COUNTER, counts: 'content', exact: false },
      total_count: evaluation.matches.count,
      as_of: toIso(evaluation.asOf),
      warnings,
    }
  })
}

function shownOf({ view, question }: Evaluation, scored: readonly ScoredBelief[]): readonly ShownBelief[] {
  return showCurrent(
    view,
    scored.map(({ entry }) => entry),
    question.scope,
  )
}

function candidateOf(
  { parts }: ScoredBelief,
  content: string,
  maxTokens: number,
): Parameters<typeof fill>[0]['candidates'][number] {
  const tokens = countTokens(content, maxTokens)
  const { confidence, trust, recency } = parts
  return {
    tokens,
    parts: { relevance: parts.semantic ?? 0, confidence, trust, recency, density: density(content, tokens) },
  }
}

/** Characters of a long content that are examined; enough for an estimate. */
const SAMPLE = 4_000

function density(content: string, tokens: number): number {
  const words = tokensOf(foldContent(content.slice(0, SAMPLE)))
  const languages = languagesOfQuestion(words)
  const telling = new Set(words.filter(word => !languages.some(language => isStopWord(word, language))))
  const counted = content.length > SAMPLE ? countTokens(content.slice(0, SAMPLE)) : tokens
  return counted === 0 ? 0 : Math.min(1, telling.size / counted)
}

/** Ids of beliefs that are based on beliefs visible to the requester: `beliefs.derivation` shows these. */
function expandable(
  { view }: Evaluation,
  scored: readonly ScoredBelief[],
  shown: ReadonlyMap<number, ShownBelief>,
): readonly string[] {
  return scored
    .filter(({ entry }) => sourcesOf(view, (shown.get(entry) as ShownBelief).version).length > 0)
    .map(({ id }) => id)
}
