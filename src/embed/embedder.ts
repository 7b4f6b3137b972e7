/**
 * The embedder contract: text to vectors of unit length. One text a run: int8 models quantise over the whole batch, so
 * a batch mate would change a vector, and a hidden text could change a visible answer.
 */
import { QuerentError } from '../model/errors.ts'

/** A question and a passage may need different prefixes; the embedder adds them. */
/** What runs a local model: the native package, or the WebAssembly build that this package carries. */
export type RuntimeName = 'native' | 'wasm'

export type EmbedKind = 'query' | 'passage'

/** What "relevant" means in this model's numbers: weights and bars of the evidence, whose form is in `math/evidence.ts`. */
export interface Calibration {
  /** Weights of what the words say; the cosine's is 1. */
  readonly wordShare: number
  readonly heldShare?: number | undefined
  readonly askedShare?: number | undefined
  /** Evidence below it: nothing relevant. At so many rows a bar is base + slope · log10(rows). */
  readonly refused: { readonly base: number; readonly slope: number }
  /** Evidence from here on: an answer. */
  readonly answered: { readonly base: number; readonly slope: number }
}

/** What a model of many languages gives for pairs of a question's and a passage's language. */
export interface LanguagePairs {
  /** Bars where the two languages differ. */
  readonly across: Calibration
  /** Bars of single pairs, `es-en` for a Spanish question and an English passage, which go before `across`. */
  readonly pairs: Readonly<Record<string, Calibration>>
  /** Quantiles of the cosine of unrelated pairs, at `QUANTILE_LEVELS`. */
  readonly unrelated: { readonly same: readonly number[]; readonly across: readonly number[] }
}

export interface EmbeddingModel {
  /** Name people know, for example `all-MiniLM-L6-v2-int8`. */
  readonly id: string
  /** Hexadecimal SHA-256 of all that decides a vector (weights, tokenizer, pooling, prefixes); part of the key. */
  readonly hash: string
  readonly dimensions: number
  /** Longer input is cut by the embedder. */
  readonly maxTokens: number
  /** Languages it was made for, as ISO 639-1; empty means many. */
  readonly languages: readonly string[]
  /** Null: not calibrated, so answers are never refused for lack of evidence. */
  readonly calibration: Calibration | null
  /** Factor on the cosine before fusion, 1 for MiniLM: 0.13 ÷ standard deviation of the cosine of random pairs. */
  readonly cosineScale: number
  /** Absent or null: one language, or not measured. */
  readonly languagePairs?: LanguagePairs | null | undefined
}

/** How a model is run in this process. */
export interface LocalRun {
  /** Before the model is loaded: the one that will be tried first. */
  readonly runtime: RuntimeName
  /** Most texts embedded at once, one thread each. */
  readonly workers: number
}

export interface Embedder {
  /** Absent where the model runs elsewhere. */
  readonly runsOn?: (() => LocalRun) | undefined
  readonly model: EmbeddingModel
  /**
   * One vector a text, in order. Rejects with `embedder_failed` or `provider_failed`; an aborted signal rejects with
   * `cancelled`. Never falls back to other vectors. Where a text itself seems to be the cause (a provider refuses it, a
   * worker dies on it), the error's details say `refused: 'text'`: the others may do by themselves.
   */
  embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal): Promise<readonly Float32Array[]>
  close(): Promise<void>
}

/** Whether an embedder failed because of a text it was given, as far as it can tell. */
export function isRefusal(error: unknown): error is QuerentError {
  return error instanceof QuerentError && error.details['refused'] === 'text'
}

/** The error, told as one that a text of the request seems to have caused. */
export function asRefusal(error: QuerentError): QuerentError {
  return error.retold(error.message, { ...error.details, refused: 'text' })
}

/** What vectors are stored under. Vectors of different keys are never compared. */
export function modelKey(model: EmbeddingModel): string {
  return `${model.id}@${model.hash.slice(0, 12)}`
}

/** What every embedder rejects with when its caller's signal is aborted. */
export function cancelled(signal: AbortSignal | undefined): QuerentError {
  return new QuerentError('cancelled', 'embedding was cancelled by the caller', {}, signal?.reason)
}

/** A copy of length 1; null where there is no direction: all zero, or a number that is not finite. */
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
