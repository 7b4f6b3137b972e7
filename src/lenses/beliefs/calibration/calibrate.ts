/**
 * From which raw cosine on a belief means a term (BQ-040), found for any model from pairs of which it is known: the cut
 * lets at most one in twenty of the unrelated pairs through.
 */
import type { Embedder } from '../../../embed/embedder.ts'
import { cosine } from '../../../math/vector.ts'
import pairsFile from './pairs.json' with { type: 'json' }

/** A text, and terms that it means or does not mean. */
interface CalibrationTexts {
  readonly text: string
  readonly related: readonly string[]
  readonly unrelated: readonly string[]
}

export const SHIPPED_PAIRS: readonly CalibrationTexts[] = pairsFile

export interface CalibrationResult {
  /** Raw cosine; a term is meant from here on. */
  readonly threshold: number
  readonly relatedPairs: number
  readonly unrelatedPairs: number
  /** How many of them reach the threshold. */
  readonly relatedPassed: number
  readonly unrelatedPassed: number
}

const MAX_UNRELATED = 0.05

/** Embeds every text and every term once: some seconds. */
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

/** The lowest cut, in thousandths, that at most one in twenty reaches. */
export function thresholdOf(unrelated: readonly number[]): number {
  const allowed = Math.floor(unrelated.length * MAX_UNRELATED)
  const first = unrelated.toSorted((a, b) => b - a)[allowed] ?? -1
  return (Math.floor(first * 1000) + 1) / 1000
}

/** By key of the model: what calibration gave for the models that come along. A test holds these to a new run. */
export const SHIPPED: ReadonlyMap<string, CalibrationResult> = new Map([
  [
    'all-MiniLM-L6-v2-int8@291d0f4e3028',
    { threshold: 0.269, relatedPairs: 144, unrelatedPairs: 192, relatedPassed: 131, unrelatedPassed: 9 },
  ],
])
