/**
 * An embedder for tests: a text's vector is the sum of its words' directions, which are random but always the same. Words
 * of one group share a direction, so that texts without a common word can mean the same.
 */
import { type Embedder, type EmbeddingModel, modelKey } from '../../src/embed/embedder.ts'
import { toUnit } from '../../src/math/vector.ts'
import { tokenise } from '../../src/text/tokenise.ts'
import { seededNormal } from './seeded.ts'

export const TOY_MODEL: EmbeddingModel = {
  id: 'toy',
  hash: 'toy',
  dimensions: 128,
  maxTokens: 10_000,
  languages: [],
  calibration: { wordShare: 0.25, refused: { base: 0.125, slope: 0.05 }, answered: { base: 0.207, slope: 0.1 } },
  cosineScale: 1,
}

export const TOY_KEY: string = modelKey(TOY_MODEL)

const SYNONYMS: Groups = [
  ['car', 'automobile', 'vehicle'],
  ['fox', 'vixen'],
  ['quick', 'fast', 'swift'],
]

/** `groups`: words that share a direction. */
export function openToyEmbedder(model: EmbeddingModel = TOY_MODEL, groups: Groups = SYNONYMS): Embedder {
  return {
    model,
    embed: texts => Promise.resolve(texts.map(text => toyVector(text, model.dimensions, groups))),
    close: () => Promise.resolve(),
  }
}

type Groups = readonly (readonly string[])[]

export function toyVector(
  text: string,
  dimensions: number = TOY_MODEL.dimensions,
  groups: Groups = SYNONYMS,
): Float32Array {
  const sum = new Float64Array(dimensions)
  // Something for a text without words, which must have a vector too.
  addDirection(sum, '', 1e-3, groups)
  for (const { term, alias } of tokenise(text)) if (!alias) addDirection(sum, term, 1, groups)
  return toUnit(sum) as Float32Array
}

function addDirection(sum: Float64Array, word: string, factor: number, groups: Groups): void {
  const group = groups.find(words => words.includes(word))?.[0] ?? word
  const normal = seededNormal(hashOf(group))
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + factor * normal()
}

function hashOf(word: string): number {
  let hash = 2166136261
  for (const unit of word) hash = Math.imul(hash ^ (unit.codePointAt(0) as number), 16777619)
  return hash >>> 0
}
