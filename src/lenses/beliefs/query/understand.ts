/**
 * Prepares a query's text before the store is read: computes the vectors of the text and of its required and excluded terms, in one call to
 * the embedder.
 */

import type { Embedder } from '../../../embed/embedder.ts'
import type { WordIndex } from '../../../index/contract.ts'
import { boostedVector, cosine } from '../../../math/vector.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import { inTime } from '../../../pipeline/time-limit.ts'
import type { BeliefsSettings } from '../beliefs-settings.ts'
import pairsFile from '../calibration/pairs.json' with { type: 'json' }
import type { Operand } from '../matching/operators.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedText } from '../schema/values.ts'
import { type BeliefsState, modelOf, vectorIndex } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'

/**
 * A query's text prepared for one requester: how beliefs are compared with it (by vector, by words, or not at all), its required and
 * excluded terms, and their thresholds.
 */
export interface Understood {
  readonly meaning: Meaning
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  /** Cosine thresholds of the embedding model; null: the model was not calibrated, or there is no model. */
  readonly thresholds: Thresholds | null
}

/** Vectors of a query's text and of its terms, or warnings that say why there are none. */
export interface Embedded {
  readonly question: Float32Array | null
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly warnings: readonly CheckedWarning[]
}

const NOTHING: Embedded = { question: null, include: [], exclude: [], warnings: [] }

/**
 * Makes the prepared form of a query that has a given vector instead of a text. Null: the query has neither text nor vector, so beliefs are
 * only filtered and listed.
 */
export function embeddedAs(question: Float32Array | null): Embedded {
  return { ...NOTHING, question }
}

/**
 * Embeds the text of a query. Rejects only if the caller has cancelled. `semantic` null: there is no text, and nothing is embedded. If
 * embedding takes most of the time limit, it is given up and the text is compared by words, so that time is left to answer; an embedder
 * that never responds does not block the query.
 */
export async function embedText(
  { host: { embedder } }: BeliefsState,
  semantic: CheckedText | null,
  signal: AbortSignal,
  time: TimeLimit,
): Promise<Embedded> {
  if (semantic === null) return NOTHING
  const plain = (texts: readonly string[]): Operand[] => texts.map(text => ({ text, vector: null }))
  const wordsOnly = { question: null, include: plain(semantic.include), exclude: plain(semantic.exclude) }
  if (embedder === null) return { ...wordsOnly, warnings: [NO_EMBEDDER] }
  const { base, boosts, include, exclude } = semantic
  const texts = [base, ...boosts.map(({ text }) => text), ...include, ...exclude]
  try {
    const embed = (late: AbortSignal) => embedder.embed(texts, 'query', AbortSignal.any([signal, late]))
    const vectors = await inTime(embed, { signal, leftMs: time.leftMs * EMBEDDING_SHARE })
    if (vectors === null) return { ...wordsOnly, warnings: [MEANING_LATE] }
    const at = (place: number) => vectors[place] as Float32Array
    const factors = boosts.map(({ factor }, i) => ({ factor, vector: at(1 + i) }))
    const from = 1 + boosts.length
    return {
      question: boostedVector(at(0), factors),
      include: include.map((text, i) => ({ text, vector: at(from + i) })),
      exclude: exclude.map((text, i) => ({ text, vector: at(from + include.length + i) })),
      warnings: [],
    }
  } catch {
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller cancelled the query')
    return { ...wordsOnly, warnings: [EMBEDDER_FAILED] }
  }
}

/** Prepares an embedded text for one requester: with the vector index, or with word scores over the beliefs that this requester sees. */
export function understand(
  state: BeliefsState,
  embedded: Embedded,
  semantic: CheckedText | null,
  accessScope: AccessScope,
): Understood {
  const { host, settings } = state
  const { include, exclude } = embedded
  const model = modelOf(host)
  const thresholds = model === null ? null : thresholdsOf(settings, model)
  return { meaning: meaningOf(state, embedded, semantic, accessScope), include, exclude, thresholds }
}

function meaningOf(
  { host }: BeliefsState,
  { question }: Embedded,
  semantic: CheckedText | null,
  accessScope: AccessScope,
): Meaning {
  const model = modelOf(host)
  if (question !== null && model !== null) return { by: 'vector', index: vectorIndex(host, model), vector: question }
  if (semantic === null) return { by: 'nothing' }
  return { by: 'words', shares: wordShares(host.index('words') as WordIndex, semantic, accessScope) }
}

/** BM25 score of each visible belief for the text, divided by the highest score among them, by entry key. */
function wordShares(words: WordIndex, { base, boosts }: CheckedText, { partitions }: AccessScope): Map<number, number> {
  const terms = [
    { text: base, boost: 1 },
    ...boosts.map(({ text, factor }) => ({ text, boost: Math.max(0, factor - 1) })),
  ]
  const hits = words.search({ terms, k: words.count({ partitions }), partitions })
  const most = hits[0]?.score ?? 0
  return new Map(most > 0 ? hits.map(({ entry, score }) => [entry, score / most]) : [])
}

/** Share of the query's remaining time that embedding the text may take. */
const EMBEDDING_SHARE = 0.8

const MEANING_LATE: CheckedWarning = {
  code: 'meaning_late',
  message: 'The text was not embedded in time: words are used instead of meaning.',
}
const NO_EMBEDDER: CheckedWarning = {
  code: 'no_embedder',
  message: 'There is no embedder: words are used instead of meaning.',
}
const EMBEDDER_FAILED: CheckedWarning = {
  code: 'no_embedder',
  message: 'The embedder failed: words are used instead of meaning.',
}

export interface Thresholds {
  readonly include: number
  readonly exclude: number
  /** Lowest cosine to a text at which a belief can be a candidate; null: no belief is too far from the text. */
  readonly floor: number | null
}

/** Cosine thresholds for an embedding model, from the settings or else from its calibration; null: neither exists. */
export function thresholdsOf(settings: BeliefsSettings, model: string): Thresholds | null {
  const set = settings.thresholds.get(model)
  const cut = SHIPPED.get(model)?.threshold ?? null
  if (set !== undefined) return { ...set, floor: set.floor ?? cut }
  return cut === null ? null : { include: cut, exclude: cut, floor: cut }
}

// Calibration (BQ-040): from labelled pairs of texts and terms, finds for an embedding model the raw cosine from which a belief counts as
// meaning a term. At most one in twenty of the unrelated pairs may reach this threshold.

/** A text for calibration, with terms that are related to it and terms that are not. */
interface CalibrationTexts {
  readonly text: string
  readonly related: readonly string[]
  readonly unrelated: readonly string[]
}

export const SHIPPED_PAIRS: readonly CalibrationTexts[] = pairsFile

export interface CalibrationResult {
  /** Raw cosine between a belief and a term from which the belief counts as meaning the term. */
  readonly threshold: number
  readonly relatedPairs: number
  readonly unrelatedPairs: number
  /** Numbers of related and of unrelated pairs whose cosine reaches the threshold. */
  readonly relatedPassed: number
  readonly unrelatedPassed: number
}

const MAX_UNRELATED = 0.05

/** Calibrates an embedding model on labelled pairs. It embeds every text and every term once, which takes some seconds. */
export async function calibrate(
  embedder: Embedder,
  signal: AbortSignal,
  texts: readonly CalibrationTexts[] = SHIPPED_PAIRS,
): Promise<CalibrationResult> {
  const terms = [...new Set(texts.flatMap(({ related, unrelated }) => [...related, ...unrelated]))]
  const contents = texts.map(({ text }) => text)
  const ofTexts = await embedder.embed(contents, 'passage', signal)
  const ofTerms = await embedder.embed(terms, 'query', signal)
  const termVectors = new Map(terms.map((term, at) => [term, ofTerms[at] as Float32Array]))
  const cosines = (kind: 'related' | 'unrelated') =>
    texts.flatMap((each, at) =>
      each[kind].map(term => cosine(ofTexts[at] as Float32Array, termVectors.get(term) as Float32Array)),
    )
  const [related, unrelated] = [cosines('related'), cosines('unrelated')]
  const threshold = thresholdOf(unrelated)
  const passed = (of: readonly number[]) => of.filter(value => value >= threshold).length
  return {
    threshold,
    relatedPairs: related.length,
    unrelatedPairs: unrelated.length,
    relatedPassed: passed(related),
    unrelatedPassed: passed(unrelated),
  }
}

/** The lowest threshold, in steps of 0.001, that at most one in twenty of the given cosines of unrelated pairs reaches. */
export function thresholdOf(unrelated: readonly number[]): number {
  const allowed = Math.floor(unrelated.length * MAX_UNRELATED)
  const first = unrelated.toSorted((a, b) => b - a)[allowed] ?? -1
  return (Math.floor(first * 1000) + 1) / 1000
}

/**
 * Calibration results of the embedding models that are part of the package, by the model's identifier. A test compares them with a new
 * calibration.
 */
export const SHIPPED: ReadonlyMap<string, CalibrationResult> = new Map([
  [
    'all-MiniLM-L6-v2-int8@291d0f4e3028',
    { threshold: 0.269, relatedPairs: 144, unrelatedPairs: 192, relatedPassed: 131, unrelatedPassed: 9 },
  ],
])
