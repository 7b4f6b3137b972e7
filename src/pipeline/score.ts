/**
 * Fourth stage of the query pipeline, score: computes each candidate's score by the default formula, and the verdict on the whole answer.
 */

import type { Candidate, Scored } from '../model/candidate.ts'
import type { EntryKey } from '../model/entry.ts'
import { type BoundFormula, constant, NO_NUMBERS, scorerOf } from '../model/formula.ts'
import type { QueryContext } from './context.ts'
import { allKnown } from './cursor.ts'
import {
  bm25Tree,
  boundDefault,
  byFormula,
  MEMORY_BOOST,
  maxBy,
  memoryTree,
  type Remembered,
  remember,
  scoredBy,
  weightNumbers,
} from './formula.ts'
import { pageBar } from './page-depth.ts'
import { explainKept, keepFirstByWords, type OtherScores, withExpected } from './partly-embedded.ts'
import type { Plan, Retrieval, Scoring } from './stage.ts'
import { type Judgement, judge, judgeNoise } from './verdict.ts'

/** Score 0 of every entry in a list (a query with conditions only), which is ordered by the time of the last change instead. */
const LISTED = constant('score', 0, { note: 'a list: only conditions, nothing to rank by' })

export function score(retrieval: Retrieval, plan: Plan, context: QueryContext): Scoring {
  const judged = withPhrase(judge(retrieval, plan, context), retrieval)
  if (plan.mode === 'list') {
    const rate = (all: readonly Candidate[]) => all.map(listed)
    return {
      ...byFormula([], { formula: LISTED, numbers: NO_NUMBERS }),
      scored: rate(retrieval.candidates),
      rate,
      ...judged,
      ceiling: null,
    }
  }
  const { statistics, absent = new Set() } = retrieval
  const isPartly = statistics['expectedBase'] !== undefined
  const bound = boundDefault(plan.weights, statistics['bmTop'] ?? 0, context.model?.cosineScale ?? 1)
  const noiseDrops = dropsNoise(plan)
  const speaking = noiseDrops
    ? retrieval.candidates.filter(candidate => !isNoise(candidate, context))
    : retrieval.candidates
  const isNoiseAlone = speaking.length === 0 && retrieval.candidates.length > 0
  const judgement = isNoiseAlone && judged.verdictBy === 'meaning' ? judgeNoise(judged) : judged
  // Where the verdict is that nothing is relevant, noise is kept too, since the page names the nearest entries.
  const candidates = judgement.verdict === 'nothing_relevant' ? retrieval.candidates : speaking
  const scoreOf = scoredBy(bound)
  const relevant = candidates.map(scoreOf)
  const memories = memoriesOf(relevant, retrieval, plan, context)
  const remembered = (candidate: Candidate) => withMemory(candidate, memories)
  const scope = () => ({ partitions: context.accessScope.partitions })
  // Only candidates that were used before are scored again.
  const scored = relevant.map(one => (memories.has(one.entry) ? scoreOf(remembered(one)) : one))
  const made = byFormula([], {
    ...bound,
    expansions: ({ entry, chunks: { words: chunk } }) => {
      const memory = memories.get(entry)
      const terms = chunk === undefined ? [] : context.words.explain(plan.terms, chunk, scope())
      return { words: bm25Tree(terms), ...(memory !== undefined && { memory: memoryTree(memory) }) }
    },
  })
  const adjust = (all: readonly Scored[]) => keepFirstByWords(all, otherScores(bound), absent, context)
  const isAdjusted = isPartly && retrieval.isRest !== true
  return {
    ...made,
    scored: isAdjusted ? adjust(scored) : scored,
    explain: scored => explainKept(made.explain(scored), scored),
    rate: passages => withExpected(passages, statistics, scope(), context).map(remembered).map(scoreOf),
    ...(isAdjusted && { adjust }),
    ...judgement,
    isWhole: noiseDrops && onlyNoiseIsLeft(retrieval, context),
    ceiling: plan.query.approximate || retrieval.exhausted ? null : ceilingOf(statistics, bound),
  }
}

/**
 * Changes the verdict "nothing relevant" to "weak" where an entry contains a phrase of the query as quoted: its subject is then not
 * unrelated, however low the cosines are.
 */
function withPhrase(judgement: Judgement, { candidates }: Retrieval): Judgement {
  const isRefused = judgement.verdict === 'nothing_relevant'
  if (!isRefused || !candidates.some(({ signals }) => signals['phrase'] !== undefined)) return judgement
  return {
    ...judgement,
    verdict: 'weak',
    reason: 'A phrase of the query occurs, but there is little other evidence for these results.',
  }
}

function withMemory(candidate: Candidate, memories: ReadonlyMap<EntryKey, Remembered>): Candidate {
  const remembered = memories.get(candidate.entry)
  if (remembered === undefined) return candidate
  return { ...candidate, signals: { ...candidate.signals, memory: remembered.value, uses: remembered.state.count } }
}

function otherScores({ formula, numbers }: BoundFormula): OtherScores {
  const byWords = scorerOf(formula, { ...numbers, ...weightNumbers({ words: 1, meaning: 0 }) })
  const byAll = scorerOf(formula, numbers)
  return {
    byWords: ({ signals }) => ((signals['words'] ?? 0) > 0 ? byWords(signals) : null),
    byKnown: ({ signals: { expected: _, ...known } }) => (known['meaning'] === undefined ? null : byAll(known)),
  }
}

/**
 * The viewer's use statistics (memory) for entries that were used before and may reach the page; use raises a score by at most a tenth.
 * `relevant`: the candidates, scored without memory.
 * Uses since the first page do not count on later pages: otherwise an entry could move to a place that was shown already, and never be
 * shown.
 */
function memoriesOf(
  relevant: readonly Scored[],
  { depth, statistics }: Retrieval,
  plan: Plan,
  context: QueryContext,
): ReadonlyMap<EntryKey, Remembered> {
  const { query } = plan
  const memories = new Map<EntryKey, Remembered>()
  if (!query.memory) return memories
  const relevances = relevant.map(({ score }) => score)
  // While some passages have no vector, the memory of every candidate is read: which results by words stay at the top must not depend on
  // the length of the page.
  const bar = statistics['expectedBase'] === undefined ? pageBar(relevances, query, depth) : Number.NEGATIVE_INFINITY
  const isNear = (relevance: number) => Math.max(relevance, relevance * (1 + MEMORY_BOOST)) >= bar
  const keys = relevant.filter(({ score }) => isNear(score)).map(({ entry }) => entry)
  const upTo = allKnown(query.after) ? query.begun : Number.POSITIVE_INFINITY
  for (const [entry, state] of context.reader.access(context.accessScope.viewer, keys)) {
    if (state.lastAccessed <= upTo) memories.set(entry, remember(state, query.asOf))
  }
  return memories
}

/** Upper bound of the score of an entry that neither the search by words nor the search by meaning found. */
function ceilingOf(statistics: Retrieval['statistics'], bound: BoundFormula): number {
  const { wordsLast = 0, meaningLast = 0 } = statistics
  return maxBy(statistics, bound)(wordsLast, meaningLast)
}

function listed({ entry, passage, source, signals, chunks }: Candidate): Scored {
  return { entry, passage, source, signals, chunks, score: 0, order: signals['updated'] ?? 0 }
}

// Noise is a candidate without evidence: it contains no query word, and its meaning is no nearer to the query than that of two arbitrary
// texts. Noise is neither shown nor counted as used, unless the query requests it with `any`.

/** Cosine, on the scale of the MiniLM model, up to which a meaning is no nearer than chance: two unrelated texts have 0 ± 0.13. */
const CHANCE = 0.1

export const NOTHING_SPEAKS = 'It contains no word of the query, and its meaning is no nearer than by chance.'

/**
 * Whether candidates that are noise (no query word, and a meaning no nearer than chance) are dropped. Not for a query with required words
 * or phrases, since everything that it finds contains them.
 */
export function dropsNoise({ query, mode, vector, parsed }: Plan): boolean {
  return !query.any && mode !== 'list' && vector !== null && parsed.must.length + parsed.phrases.length === 0
}

export function isNoise({ signals }: Candidate, context: QueryContext): boolean {
  const cosine = signals['meaning']
  const { words = 0, phrase, linked } = signals
  const hasWords = words > 0 || phrase !== undefined || linked !== undefined
  return cosine !== undefined && isByChance(cosine, context) && !hasWords
}

/** Whether a deeper retrieval could only find noise: entries without a query word and with a meaning no nearer than chance. */
export function onlyNoiseIsLeft({ statistics }: Retrieval, context: QueryContext): boolean {
  const { wordsLast = 0, meaningLast } = statistics
  return wordsLast <= 0 && meaningLast !== undefined && isByChance(meaningLast, context)
}

function isByChance(cosine: number, { model }: QueryContext): boolean {
  return cosine * (model?.cosineScale ?? 1) <= CHANCE
}
