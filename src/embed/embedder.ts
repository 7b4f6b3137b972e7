/**
 * The embedder contract: for each text a vector of unit length. A model must process each text on its own: int8 models choose their
 * quantisation for a whole batch, so other texts in the batch would change a vector, and a text that a viewer may not see could change the
 * viewer's answer.
 */
import { QuerentError } from '../model/errors.ts'

/**
 * The purpose for which a text is embedded: as a query or as a passage. Some models need a different prefix for each, which the embedder
 * adds.
 */
/** Runtime of a local model: the native ONNX package, or the WebAssembly build that this package contains. */
export type RuntimeName = 'native' | 'wasm'

export type EmbedKind = 'query' | 'passage'

/**
 * Calibration of an embedding model for the verdict of an answer (`answered` or `nothing_relevant`): weights and thresholds for the
 * evidence, a number that `math/evidence.ts` computes from word matches and the cosine.
 */
export interface Calibration {
  /** Weights of the word-match signals in the evidence, relative to the cosine of query and passage, whose weight is 1. */
  readonly wordShare: number
  readonly heldShare?: number | undefined
  readonly askedShare?: number | undefined
  /**
   * Threshold of the evidence (a number computed from word matches and the cosine) below which the verdict of an answer is
   * `nothing_relevant`: base + slope · log10(rows), where `rows` is the number of rows searched.
   */
  readonly refused: { readonly base: number; readonly slope: number }
  /** Evidence from which on the verdict of an answer is `answered`. */
  readonly answered: { readonly base: number; readonly slope: number }
}

/** Calibration of a multilingual model for pairs of query language and passage language. */
export interface LanguagePairs {
  /** Calibration for a query and a passage in two different languages. */
  readonly across: Calibration
  /**
   * Calibration for single pairs of query and passage language, such as `es-en` for a Spanish query and an English passage; used instead of
   * `across` for these pairs.
   */
  readonly pairs: Readonly<Record<string, Calibration>>
  /**
   * Quantiles of the cosine between unrelated queries and passages, at the cumulative shares in `QUANTILE_LEVELS`: for pairs in one
   * language (`same`) and in two different languages (`across`).
   */
  readonly unrelated: { readonly same: readonly number[]; readonly across: readonly number[] }
}

export interface EmbeddingModel {
  /** Usual name of the model, for example `all-MiniLM-L6-v2-int8`. */
  readonly id: string
  /**
   * Hexadecimal SHA-256 of everything that determines a vector (weights, tokenizer, pooling, prefixes); part of the key under which vectors
   * are stored.
   */
  readonly hash: string
  readonly dimensions: number
  /** Maximum number of tokens of the input; the embedder cuts longer texts. */
  readonly maxTokens: number
  /** Languages that the model was made for, as ISO 639-1 codes; empty means many. */
  readonly languages: readonly string[]
  /**
   * Weights and thresholds from which the verdict of an answer is computed. Null: the model is not calibrated, so the verdict is never
   * `nothing_relevant` for lack of evidence.
   */
  readonly calibration: Calibration | null
  /**
   * Factor by which the cosine is multiplied before it is combined with the word score; makes the spread of models comparable. The value is
   * 0.13 ÷ the standard deviation of the cosine of random pairs, which is 1 for MiniLM.
   */
  readonly cosineScale: number
  /** Calibration by language pair. Absent or null: the model has one language, or was not measured. */
  readonly languagePairs?: LanguagePairs | null | undefined
}

/** How an embedding model runs in this process: its runtime and its number of workers. */
export interface LocalRun {
  /** Runtime that runs the model, native or WebAssembly. Before the model is loaded: the runtime that will be tried first. */
  readonly runtime: RuntimeName
  /** Maximum number of texts that are embedded in parallel, each by a worker thread. */
  readonly workers: number
}

export interface Embedder {
  /** How the model runs in this process. Absent for a model that does not run in this process, such as one behind an HTTP provider. */
  readonly runsOn?: (() => LocalRun) | undefined
  readonly model: EmbeddingModel
  /**
   * Embeds the texts: one vector per text, in order. Rejects with `embedder_failed` or `provider_failed`; an aborted signal rejects with
   * `cancelled`. Never returns substitute vectors. If a text itself seems to be the cause (a provider refuses it, a worker dies on it), the
   * details of the error say `refused: 'text'`: the other texts may succeed without it.
   */
  embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal): Promise<readonly Float32Array[]>
  close(): Promise<void>
}

/**
 * Whether the error says that an embedder refused one particular text (`refused: 'text'` in its details), so that other texts may still be
 * embedded.
 */
export function isRefusal(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.details['refused'] === 'text'
}

/** A copy of the error with `refused: 'text'` in its details: a text of the request, not the embedder, seems to have caused the failure. */
export function asRefusal(error: QuerentError): QuerentError {
  return error.retold(error.message, { ...error.details, refused: 'text' })
}

/** Key of a model under which its vectors are stored. Vectors with different keys are never compared. */
export function modelKey(model: EmbeddingModel): string {
  return `${model.id}@${model.hash.slice(0, 12)}`
}

/** The error with which every embedder rejects when the caller's signal is aborted. */
export function cancelled(signal: AbortSignal | undefined): QuerentError {
  return new QuerentError('cancelled', 'embedding was cancelled by the caller', {}, signal?.reason)
}

/** A copy of the vector scaled to length 1; null if it has no direction: all components are zero, or one is not finite. */
export function toUnit(values: ArrayLike<number>): Float32Array | null {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2
  const length = Math.sqrt(sum)
  if (!Number.isFinite(length) || length === 0) return null
  const unit = new Float32Array(values.length)
  for (let i = 0; i < values.length; i++) unit[i] = (values[i] as number) / length
  return unit
}

export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const isHighSurrogate = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800
  return text.slice(0, isHighSurrogate ? length - 1 : length)
}
