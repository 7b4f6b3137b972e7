/**
 * The default formula: what an entry's numbers make of its score, and the tree that says so. Both are built by the same
 * steps in the same order, so the tree's leaves give the score to the last bit or two.
 *
 *     relevance = words·(bm / bmTop) + meaning·cosine
 *     score = relevance · (1 + 0.5·share of the phrases held) · (1 + 0.1·memory)
 *
 * Phrases that are required are held by all results, and lift none.
 */
import type { TermMatch } from '../index/contract.ts'
import { fuse, wordShare } from '../math/fusion.ts'
import type { Candidate, Scored } from '../model/candidate.ts'
import { type Explanation, leaf, node } from '../model/explanation.ts'
import type { QueryContext } from './context.ts'
import { MEMORY_BOOST, memoryTree, type Remembered } from './memory.ts'
import { expectedCosine } from './partly-embedded.ts'
import type { Plan, Retrieval, Weights } from './stage.ts'

/** How far phrases that are not required lift what holds all of them: enough to pass what has the same words apart. */
const PHRASE_LIFT = 0.5

export interface Formula {
  readonly weights: Weights
  /** Best BM25 among the visible rows that pass the conditions. */
  readonly bmTop: number
  /** Of the cosine that is expected of passages without a vector (`partly-embedded.ts`); null: all have one. */
  readonly expectedBase: number | null
  /** Brings another embedder's cosines to the spread of MiniLM's. */
  readonly cosineScale: number
}

export function formulaOf(statistics: Retrieval['statistics'], plan: Plan, context: QueryContext): Formula {
  return {
    weights: plan.weights,
    bmTop: statistics['bmTop'] ?? 0,
    expectedBase: statistics['expectedBase'] ?? null,
    cosineScale: context.model?.cosineScale ?? 1,
  }
}

export interface Parts {
  readonly words: number
  readonly meaning: number
  /** What phrases that it holds added. */
  readonly phrase: number
  /** What use of the entry added. */
  readonly memory: number
  readonly score: number
}

export function partsOf(candidate: Candidate, formula: Formula, remembered: Remembered | null): Parts {
  const { weights, bmTop } = formula
  const words = weights.words * wordShare(candidate.signals['words'] ?? 0, bmTop)
  const meaning = weights.meaning * cosineOf(candidate, formula)
  const relevance = words + meaning
  const lifted = relevance * phraseFactor(candidate, relevance)
  const score = lifted * boostOf(relevance, remembered)
  return { words, meaning, phrase: lifted - relevance, memory: score - lifted, score }
}

function phraseFactor({ signals }: Candidate, relevance: number): number {
  return relevance <= 0 ? 1 : 1 + PHRASE_LIFT * (signals['phrase'] ?? 0)
}

/** The score of an entry with these signals that was never used. */
export function scoreOf(bm: number, cosine: number, { weights, bmTop, cosineScale }: Formula): number {
  return fuse(wordShare(bm, bmTop), cosine * cosineScale, weights.words, weights.meaning)
}

/** The most that an entry with at most these signals scores, used or not, with a vector or without. */
export function mostOf(bm: number, cosine: number, formula: Formula): number {
  const { bmTop, cosineScale, expectedBase } = formula
  const expected = expectedBase === null ? cosine : expectedCosine(bm, bmTop, expectedBase) / cosineScale
  return mostWithUse(scoreOf(bm, Math.max(cosine, expected), formula))
}

/** The most that use can make of a relevance. */
export function mostWithUse(relevance: number): number {
  return relevance > 0 ? relevance * (1 + MEMORY_BOOST) : relevance
}

/** What is not relevant does not become so by use: there the boost is 1. */
export function boostOf(relevance: number, remembered: Remembered | null): number {
  return remembered === null || relevance <= 0 ? 1 : 1 + MEMORY_BOOST * remembered.value
}

export function cosineOf(candidate: Candidate, formula: Formula): number {
  const { meaning, expected } = candidate.signals
  const cosine = expected === undefined ? (meaning ?? 0) : Math.max(meaning ?? expected, expected)
  return cosine * formula.cosineScale
}

/** The tree of a score. `terms` are the words of the question in the candidate's best chunk for words. */
export function explainParts(
  candidate: Scored,
  formula: Formula,
  remembered: Remembered | null,
  terms: readonly TermMatch[],
): Explanation {
  const { weights } = formula
  const legs: Explanation[] = []
  if (weights.words > 0) legs.push(wordsTree(candidate, formula, terms))
  if (weights.meaning > 0) legs.push(meaningTree(candidate, formula))
  const relevance = node('relevance', 'sum', legs)
  const factors: Explanation[] = []
  if (phraseFactor(candidate, relevance.value) !== 1) {
    const share = leaf('share of the phrases held', candidate.signals['phrase'] ?? 0)
    const lift = node('lift', 'product', [leaf('most that phrases can add', PHRASE_LIFT), share])
    factors.push(node('phrase', 'sum', [leaf('base', 1), lift]))
  }
  if (remembered !== null && boostOf(relevance.value, remembered) !== 1) factors.push(memoryBoost(remembered))
  const tree: Explanation =
    factors.length === 0 ? { ...relevance, label: 'score' } : node('score', 'product', [relevance, ...factors])
  if (candidate.components['partly_embedded'] === undefined) return tree
  const note = 'not all is embedded yet: among the first three by words, it stays there'
  return node('score', 'max', [{ ...tree, label: 'own score' }, leaf('just above the next', candidate.score, note)])
}

function memoryBoost(remembered: Remembered): Explanation {
  return node('memory boost', 'sum', [
    leaf('base', 1),
    node('use', 'product', [leaf('most that use can add', MEMORY_BOOST), memoryTree(remembered)]),
  ])
}

function wordsTree(candidate: Candidate, formula: Formula, terms: readonly TermMatch[]): Explanation {
  const weight = leaf('weight of words', formula.weights.words)
  const bm = bm25Tree(candidate.signals['words'] ?? 0, terms)
  // Where no term matches anything every share is 0, and there is no best to divide by.
  const best = leaf('best BM25 here', formula.bmTop > 0 ? formula.bmTop : 1)
  return node('words', 'product', [weight, node('share of the best', 'quotient', [bm, best])])
}

function bm25Tree(bm: number, terms: readonly TermMatch[]): Explanation {
  const leaves = terms.filter(term => term.score > 0).map(termLeaf)
  const tree = node('BM25', 'sum', leaves)
  const isWhole = leaves.length > 0 && Math.abs(tree.value - bm) <= 1e-13 * bm
  return isWhole ? tree : leaf('BM25', bm, leaves.length === 0 ? 'none of the words' : undefined)
}

function termLeaf({ term, score, tf, df, idf, boost, length, meanLength }: TermMatch): Explanation {
  const stressed = boost === 1 ? '' : `, counted ${boost} times`
  const note = `tf ${tf}, in ${df} passages (idf ${short(idf)}), ${length} of mean ${short(meanLength)} tokens${stressed}`
  return leaf(term, score, note)
}

function meaningTree(candidate: Candidate, formula: Formula): Explanation {
  const weight = leaf('weight of meaning', formula.weights.meaning)
  const cosine = cosineTree(candidate)
  const { cosineScale } = formula
  const scaled = cosineScale === 1 ? cosine : node('scaled cosine', 'product', [cosine, leaf('scale', cosineScale)])
  return node('meaning', 'product', [weight, scaled])
}

function cosineTree({ signals: { meaning, expected } }: Candidate): Explanation {
  if (expected === undefined) return leaf('cosine', meaning ?? 0, meaning === undefined ? 'no vector yet' : undefined)
  const note = 'no vector yet: what passages with as much of the words have'
  if (meaning === undefined) return leaf('cosine', expected, note)
  return node('cosine', 'max', [leaf('of its passages with a vector', meaning), leaf('of one without', expected, note)])
}

function short(value: number): string {
  return String(Number(value.toFixed(2)))
}
