/** Fourth stage: the default formula over each candidate, and what the whole answer is worth. */
import type { Candidate, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { type Explanation, leaf } from '../model/explanation.ts'
import type { QueryContext } from './context.ts'
import { explainParts, type Formula, formulaOf, mostOf, mostWithUse, partsOf } from './formula.ts'
import { type Remembered, remember } from './memory.ts'
import { dropsNoise, isNoise, onlyNoiseIsLeft } from './noise.ts'
import { pageBar } from './page-bounds.ts'
import { keepFirstByWords, type OtherScores, withExpected } from './partly-embedded.ts'
import { allKnown } from './shown.ts'
import type { Plan, Retrieval, Scoring } from './stage.ts'
import { type Judgement, judge, judgeNoise } from './verdict.ts'
import { weightsWith } from './weights.ts'

export function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const judged = withPhrase(judge(retrieval, plan, context), retrieval)
  if (plan.mode === 'list') {
    const rate = (all: readonly Candidate[]) => all.map(listed)
    return { scored: rate(retrieval.candidates), explain: explainListed, rate, ...judged, ceiling: null }
  }
  const formula = formulaOf(retrieval.statistics, plan, context)
  const noiseDrops = dropsNoise(plan)
  const speaking = noiseDrops
    ? retrieval.candidates.filter(candidate => !isNoise(candidate, context))
    : retrieval.candidates
  const isNoiseAlone = speaking.length === 0 && retrieval.candidates.length > 0
  const judgement = isNoiseAlone && judged.verdictBy === 'meaning' ? judgeNoise(judged) : judged
  // Where nothing is relevant, noise too may be what came nearest.
  const candidates = judgement.verdict === 'nothing_relevant' ? retrieval.candidates : speaking
  const memories = memoriesOf({ ...retrieval, candidates }, formula, plan, context)
  const scoreOf = (candidate: Candidate) => scoredBy(formula, candidate, memories.get(candidate.entry) ?? null)
  const scored = candidates.map(scoreOf)
  const scope = () => ({ partitions: context.sight.partitions })
  const isPartly = formula.expectedBase !== null && retrieval.isRest !== true
  const adjust = (all: readonly Scored[]) => keepFirstByWords(all, otherScores(formula, memories), context)
  return {
    scored: isPartly ? adjust(scored) : scored,
    explain: scored => {
      const chunk = scored.chunks['words']
      const terms = chunk === undefined ? [] : context.words.explain(plan.terms, chunk, scope())
      return explainParts(scored, formula, memories.get(scored.entry) ?? null, terms)
    },
    rate: passages => withExpected(passages, retrieval.statistics, scope(), context).map(scoreOf),
    ...(isPartly && { adjust }),
    ...judgement,
    isWhole: noiseDrops && onlyNoiseIsLeft(retrieval, context),
    ceiling: plan.query.approximate || retrieval.exhausted ? null : ceilingOf(retrieval, formula),
  }
}

/** Words that an entry holds as they were quoted are no foreign subject, however the vectors look. */
function withPhrase(judgement: Judgement, { candidates }: Retrieval): Judgement {
  const isRefused = judgement.verdict === 'nothing_relevant'
  if (!isRefused || !candidates.some(({ signals }) => signals['phrase'] !== undefined)) return judgement
  return {
    ...judgement,
    verdict: 'weak',
    reason: 'A phrase of the question occurs, but little else speaks for these results.',
  }
}

function scoredBy(formula: Formula, candidate: Candidate, remembered: Remembered | null): Scored {
  const { words, meaning, phrase, memory, score } = partsOf(candidate, formula, remembered)
  const { entry, passage, source, signals, chunks } = candidate
  const components = { words, meaning, ...(signals['phrase'] !== undefined && { phrase }), memory }
  return { entry, passage, source, signals, chunks, score, components }
}

function otherScores(formula: Formula, memories: ReadonlyMap<EntryKey, Remembered>): OtherScores {
  const words: Formula = { ...formula, weights: weightsWith(0) }
  const scoreBy = (by: Formula, candidate: Candidate) =>
    partsOf(candidate, by, memories.get(candidate.entry) ?? null).score
  return {
    byWords: scored => ((scored.signals['words'] ?? 0) > 0 ? scoreBy(words, scored) : null),
    byKnown: scored => {
      const { expected: _expected, ...signals } = scored.signals
      return signals['meaning'] === undefined ? null : scoreBy(formula, { ...scored, signals })
    },
  }
}

/**
 * By entry, of those that were ever used and may reach the page: use lifts by a tenth at most. What was used since the first
 * page is not lifted: it would come to stand before where a page ended, and never be shown.
 */
function memoriesOf(
  { candidates, depth }: Retrieval,
  formula: Formula,
  plan: Plan,
  context: QueryContext,
): ReadonlyMap<EntryKey, Remembered> {
  const { query } = plan
  const memories = new Map<EntryKey, Remembered>()
  if (!query.memory) return memories
  const relevances = candidates.map(candidate => partsOf(candidate, formula, null).score)
  // What words keep among the first must not depend on how long the page is.
  const bar = formula.expectedBase === null ? pageBar(relevances, query, depth) : Number.NEGATIVE_INFINITY
  const near = candidates.filter((_, at) => mostWithUse(relevances[at] as number) >= bar)
  const keys = near.map(candidate => candidate.entry)
  const upTo = allKnown(query.after) ? query.begun : Number.POSITIVE_INFINITY
  for (const [entry, state] of context.reader.access(context.sight.viewer, keys)) {
    if (state.lastAccessed <= upTo) memories.set(entry, remember(state, query.asOf))
  }
  return memories
}

/** What an entry that no leg brought could score at best. */
function ceilingOf({ statistics }: Retrieval, formula: Formula): number {
  const { wordsLast = 0, meaningLast = 0 } = statistics
  return mostOf(wordsLast, meaningLast, formula)
}

/** A list has no score; it is in the order of the last change. */
function listed({ entry, passage, source, signals, chunks }: Candidate): Scored {
  return { entry, passage, source, signals, chunks, score: 0, components: {}, order: signals['updated'] ?? 0 }
}

function explainListed(): Explanation {
  return leaf('score', 0, 'a list: only conditions, nothing to rank by')
}
