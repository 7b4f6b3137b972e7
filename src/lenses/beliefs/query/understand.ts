/** What a text comes to before the store is looked at: its vector and those of its operands, in one call to the embedder. */
import type { WordIndex } from '../../../index/contract.ts'
import { boostedVector } from '../../../math/vector.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { AccessScope } from '../../../model/viewer.ts'
import { inTime } from '../../../pipeline/time-limit.ts'
import type { BeliefsSettings } from '../beliefs-settings.ts'
import { SHIPPED } from '../calibration/calibrate.ts'
import { modelOf, vectorIndex } from '../embedding.ts'
import type { Operand } from '../matching/operators.ts'
import type { Meaning } from '../ranking/scored.ts'
import type { CheckedWarning } from '../schema/filters.ts'
import type { CheckedText } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'
import type { TimeLimit } from '../time-limit.ts'

/** What the text of a query came to: vectors of it and of its operands. */
export interface Understood {
  readonly meaning: Meaning
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  /** Null: the model was not calibrated, or there is none. */
  readonly thresholds: Thresholds | null
}

/** Vectors of a text, or why there are none. */
export interface Embedded {
  readonly question: Float32Array | null
  readonly include: readonly Operand[]
  readonly exclude: readonly Operand[]
  readonly warnings: readonly CheckedWarning[]
}

const NOTHING: Embedded = { question: null, include: [], exclude: [], warnings: [] }

/** Where a vector is what is asked about, and there is no text; null: nothing is. */
export function embeddedAs(question: Float32Array | null): Embedded {
  return { ...NOTHING, question }
}

/**
 * Rejects only when the caller has gone. `semantic` null: list mode. With a time limit words stand in when most of it is
 * over, so that some is left to answer in; an embedder that never answers holds nobody.
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
    if (signal.aborted) throw new QuerentError('cancelled', 'the caller ended the question')
    return { ...wordsOnly, warnings: [EMBEDDER_FAILED] }
  }
}

/** What it means for what this requester sees. */
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

/** How much of the best visible BM25 score each has. */
function wordShares(words: WordIndex, { base, boosts }: CheckedText, { partitions }: AccessScope): Map<number, number> {
  const terms = [
    { text: base, boost: 1 },
    ...boosts.map(({ text, factor }) => ({ text, boost: Math.max(0, factor - 1) })),
  ]
  const hits = words.search({ terms, k: words.count({ partitions }), partitions })
  const most = hits[0]?.score ?? 0
  return new Map(most > 0 ? hits.map(({ entry, score }) => [entry, score / most]) : [])
}

/** The share of the time that a text may take to be embedded. */
const EMBEDDING_SHARE = 0.8

const MEANING_LATE: CheckedWarning = {
  code: 'meaning_late',
  message: 'The text was not embedded in time: words stand in for meaning.',
}
const NO_EMBEDDER: CheckedWarning = {
  code: 'no_embedder',
  message: 'There is no embedder: words stand in for meaning.',
}
const EMBEDDER_FAILED: CheckedWarning = {
  code: 'no_embedder',
  message: 'The embedder failed: words stand in for meaning.',
}

export interface Thresholds {
  readonly include: number
  readonly exclude: number
  /** Null: no belief is too far from a text. */
  readonly floor: number | null
}

/** What the settings say, else what came of calibration; null: the model was not calibrated. */
export function thresholdsOf(settings: BeliefsSettings, model: string): Thresholds | null {
  const set = settings.thresholds.get(model)
  const cut = SHIPPED.get(model)?.threshold ?? null
  if (set !== undefined) return { ...set, floor: set.floor ?? cut }
  return cut === null ? null : { include: cut, exclude: cut, floor: cut }
}
