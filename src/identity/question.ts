/** What makes two questions the same, and what makes them nearly alike (BQ-193). */
import { canonicalJson, type Json, type JsonObject, sha256 } from '../base/canonical.ts'
import { textHash } from '../base/text-hash.ts'

export interface Question {
  /** Name of the operation that it is asked by. */
  readonly operation: string
  readonly input: unknown
}

/** Of a question: the same for the same one, whichever page of it is asked for and however it is sent. */
export interface Asked {
  readonly key: string
  /** Hashes of its words, ascending, at most 64: of more, the lowest, which are as good as chosen by chance. */
  readonly words: readonly number[]
}

const MAX_WORDS = 64
const WORD = /[\p{L}\p{M}]+/gu
/** How an answer is read, and not what is asked. */
const READING: ReadonlySet<string> = new Set(
  'cursor offset limit chunk_size stream timeout_ms explain trace resume_token'.split(' '),
)

export function askedBy({ operation, input }: Question): Asked {
  const asked = withoutReading(input)
  const hashes = new Set<number>()
  addWords(asked, hashes)
  return {
    key: sha256(canonicalJson([operation, asked])).slice(0, 24),
    words: [...hashes].sort((a, b) => a - b).slice(0, MAX_WORDS),
  }
}

/** How much of the words of both is in both, 0 to 1; those without words are alike. Numbers and dates are no words. */
export function likeness(a: readonly number[], b: readonly number[]): number {
  const inA = new Set(a)
  const common = b.filter(word => inA.has(word)).length
  const all = a.length + b.length - common
  return all === 0 ? 1 : common / all
}

/** At the top and in `options`: further in the same names may be somebody's fields. */
function withoutReading(input: unknown): Json {
  const json = asJson(input, MAX_LEVELS)
  if (!isObject(json)) return json
  const { options, ...rest } = json
  return isObject(options) ? { ...without(rest), options: without(options) } : without(json)
}

/** As far as a request may be nested at all; what lies deeper makes no difference. */
const MAX_LEVELS = 32

function asJson(value: unknown, levels: number): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null || levels === 0) return null
  if (Array.isArray(value)) return value.map(item => asJson(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asJson(member, levels - 1)]))
}

function without(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !READING.has(name)))
}

function addWords(value: Json, into: Set<number>): void {
  if (typeof value === 'string') {
    for (const [word] of value.normalize('NFKC').toLowerCase().matchAll(WORD)) into.add(textHash(word))
  } else if (value !== null && typeof value === 'object') {
    for (const member of Object.values(value)) addWords(member as Json, into)
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
