/** Selects beliefs that together are useful for a purpose and fit into a given number of tokens (BQ-176). */
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
  /** Position of the selected belief in the list of candidates. */
  readonly place: number
  readonly utility: number
  readonly novelty: number
}

interface FillRequest {
  /** Beliefs that may be selected, in order of score. If several have equal utility, the one that comes first in this list is selected. */
  readonly candidates: readonly Candidate[]
  readonly purpose: Purpose
  /** The selected beliefs never have more tokens than this. */
  readonly maxTokens: number
  /** When the selected beliefs have at least this number of tokens, no further belief is selected. */
  readonly targetTokens: number
  /** Raw cosine between two candidates, given by their positions. */
  likeness(a: number, b: number): number
  /** Called before each selection of a belief; may throw to stop the work. */
  look?(): void
}

/**
 * Selects beliefs greedily under a hard limit of tokens: again and again takes the belief with the highest utility that still fits.
 * Similarity to beliefs already selected lowers a belief's utility.
 */
export function fill({ candidates, purpose, maxTokens, targetTokens, likeness, look }: FillRequest): readonly Taken[] {
  const taken: Taken[] = []
  const open = new Set(candidates.keys())
  /** For each candidate, its highest similarity to a belief selected so far; 0 or more. */
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
    // A negative similarity counts as 0: a belief with the opposite meaning of a selected one is as novel as an unrelated belief.
    for (const other of open) likest[other] = Math.max(likest[other] as number, likeness(best.place, other))
  }
  return taken
}

interface UtilityParts {
  /** Nearness in meaning to the query's text, 0 to 1; 0 if the query has no text. */
  readonly relevance: number
  readonly confidence: number
  readonly trust: number
  readonly recency: number
  /** Information density: number of different content words per token of the belief, at most 1. */
  readonly density: number
  /** Novelty: 1 minus the highest cosine to a belief selected so far. */
  readonly novelty: number
}

export const PURPOSE_WEIGHTS: Readonly<Record<Purpose, UtilityParts>> = {
  answer: weights(0.3, 0.3, 0.2, 0.1, 0.05, 0.05),
  verify: weights(0.2, 0.4, 0.2, 0.1, 0.05, 0.05),
  explore: weights(0.2, 0.1, 0.1, 0.1, 0.1, 0.4),
  decide: weights(0.25, 0.25, 0.25, 0.15, 0.05, 0.05),
  create: weights(0.2, 0.1, 0.1, 0.05, 0.15, 0.4),
}

/** Utility of a belief for a purpose, 0 to 1: the weighted sum of its parts, with the weights of the purpose. */
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

/** Number of matches, highest scores first, from which beliefs are selected. */
const POOL = 500

/**
 * Answers a query for context. The query's limit, offset and cursor have no effect, because the number of results follows from the number
 * of tokens.
 */
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

/** Number of characters at the beginning of a long content from which its tokens are estimated. */
const SAMPLE = 4_000

function density(content: string, tokens: number): number {
  const words = tokensOf(foldContent(content.slice(0, SAMPLE)))
  const languages = languagesOfQuestion(words)
  const contentTerms = new Set(words.filter(word => !languages.some(language => isStopWord(word, language))))
  const counted = content.length > SAMPLE ? countTokens(content.slice(0, SAMPLE)) : tokens
  return counted === 0 ? 0 : Math.min(1, contentTerms.size / counted)
}

/** Ids of the given beliefs that are based on beliefs visible to the requester; the operation `beliefs.derivation` shows these. */
function expandable(
  { view }: Evaluation,
  scored: readonly ScoredBelief[],
  shown: ReadonlyMap<number, ShownBelief>,
): readonly string[] {
  return scored
    .filter(({ entry }) => sourcesOf(view, (shown.get(entry) as ShownBelief).version).length > 0)
    .map(({ id }) => id)
}
