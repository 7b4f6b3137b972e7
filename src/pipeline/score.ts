/** Fourth stage: the default formula over each candidate, and what the whole answer is worth. */
import type { Candidate, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { type Explanation, leaf } from '../model/explanation.ts'
import type { QueryContext } from './context.ts'
import { explainParts, type Formula, partsOf } from './formula.ts'
import { MEMORY_BOOST, type Remembered, remember } from './memory.ts'
import type { Plan, Retrieval, Scoring } from './stage.ts'
import { judge } from './verdict.ts'

/** Candidates beyond the page whose memory is looked up too, in case some of the page are gone by now. */
const SPARE = 20

export function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const { verdict, reason } = judge(retrieval, plan, context)
  if (plan.mode === 'list') {
    return { scored: retrieval.candidates.map(listed), explain: explainListed, verdict, reason, ceiling: null }
  }
  const formula = formulaOf(retrieval, plan, context)
  const memories = memoriesOf(retrieval.candidates, formula, plan, context)
  return {
    scored: retrieval.candidates.map(candidate => scoredBy(formula, candidate, memories.get(candidate.entry) ?? null)),
    explain: scored => {
      const chunk = scored.chunks['words']
      const scope = { partitions: context.sight.partitions }
      const terms = chunk === undefined ? [] : context.words.explain(plan.terms, chunk, scope)
      return explainParts(scored, formula, memories.get(scored.entry) ?? null, terms)
    },
    verdict,
    reason,
    ceiling: plan.query.approximate || retrieval.exhausted ? null : ceilingOf(retrieval, formula),
  }
}

export function formulaOf(retrieval: Retrieval, plan: Plan, context: QueryContext): Formula {
  const { statistics } = retrieval
  return {
    weights: plan.weights,
    bmTop: statistics['bmTop'] ?? 0,
    floor: statistics['floor'] ?? 0,
    cosineScale: context.model?.cosineScale ?? 1,
  }
}

function scoredBy(formula: Formula, candidate: Candidate, remembered: Remembered | null): Scored {
  const { words, meaning, memory, score } = partsOf(candidate, formula, remembered)
  const { entry, source, signals, chunks } = candidate
  return { entry, source, signals, chunks, score, components: { words, meaning, memory } }
}

/** By entry, of those that were ever used and may reach the page: use lifts by a tenth at most. */
function memoriesOf(
  candidates: readonly Candidate[],
  formula: Formula,
  plan: Plan,
  context: QueryContext,
): ReadonlyMap<EntryKey, Remembered> {
  const { query } = plan
  const memories = new Map<EntryKey, Remembered>()
  if (!query.memory) return memories
  const relevances = candidates.map(candidate => partsOf(candidate, formula, null).score)
  const bar = needsAll(plan) ? Number.NEGATIVE_INFINITY : nthLargest(relevances, neededFor(plan))
  const near = candidates.filter((_, at) => (relevances[at] as number) * (1 + MEMORY_BOOST) >= bar)
  const keys = near.map(candidate => candidate.entry)
  for (const [entry, state] of context.reader.access(context.sight.viewer, keys)) {
    memories.set(entry, remember(state, query.asOf))
  }
  return memories
}

function needsAll({ query }: Plan): boolean {
  return query.diversity < 1 || query.perCollection !== null || query.perOrigin !== null
}

function neededFor({ query }: Plan): number {
  return (query.after?.rank ?? 0) + query.limit + SPARE
}

function nthLargest(values: readonly number[], n: number): number {
  if (n >= values.length) return Number.NEGATIVE_INFINITY
  return Float64Array.from(values).sort()[values.length - n] as number
}

/** What an entry that no leg brought could score at best. */
function ceilingOf({ statistics }: Retrieval, formula: Formula): number {
  const unseen = { words: statistics['wordsLast'] ?? 0, meaning: statistics['meaningLast'] ?? formula.floor }
  const { words, meaning } = partsOf({ entry: -1, source: '', signals: unseen, chunks: {} }, formula, null)
  return Math.max(0, words + meaning) * (1 + MEMORY_BOOST)
}

/** A list has no score; it is in the order of the last change. */
function listed({ entry, source, signals, chunks }: Candidate): Scored {
  return { entry, source, signals, chunks, score: 0, components: {}, order: signals['updated'] ?? 0 }
}

function explainListed(): Explanation {
  return leaf('score', 0, 'a list: only conditions, nothing to rank by')
}
