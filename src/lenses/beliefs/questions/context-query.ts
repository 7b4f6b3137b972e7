/** Beliefs for a purpose, as many as fit into so many tokens (BQ-176). */
import { toIso } from '../../../model/instant.ts'
import { countTokens, TOKEN_COUNTER } from '../../../text/count-tokens.ts'
import { languagesOfQuestion } from '../../../text/language.ts'
import { isStopWord } from '../../../text/stopwords.ts'
import { type ShownBelief, showCurrent } from '../access/show.ts'
import { listed } from '../answer/show-page.ts'
import { foldContent, tokensOf } from '../matching/literal.ts'
import { asked } from '../query/asked.ts'
import type { Call } from '../query/call.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { ScoredBelief } from '../ranking/scored.ts'
import { sourcesOf } from '../record/chain.ts'
import { likenessBy, vectorsOf } from '../record/vectors.ts'
import type { contextAnswer } from '../schema/answers.ts'
import type { CheckedContextQuery } from '../schema/questions.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import { fill } from './fill.ts'

/** The best of the order are chosen from. */
const POOL = 500

/** The query's limit, offset and cursor have no effect: the tokens decide. */
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
      warnings: warnings.map(warning => ({ ...warning })),
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

/** Enough of a long content to tell. */
const SAMPLE = 4_000

function density(content: string, tokens: number): number {
  const words = tokensOf(foldContent(content.slice(0, SAMPLE)))
  const languages = languagesOfQuestion(words)
  const telling = new Set(words.filter(word => !languages.some(language => isStopWord(word, language))))
  const counted = content.length > SAMPLE ? countTokens(content.slice(0, SAMPLE)) : tokens
  return counted === 0 ? 0 : Math.min(1, telling.size / counted)
}

/** Ids of those that rest on beliefs which the requester may see, so that `expand` has more of them. */
function expandable(
  { view }: Evaluation,
  scored: readonly ScoredBelief[],
  shown: ReadonlyMap<number, ShownBelief>,
): readonly string[] {
  return scored
    .filter(({ entry }) => sourcesOf(view, (shown.get(entry) as ShownBelief).version).length > 0)
    .map(({ id }) => id)
}
