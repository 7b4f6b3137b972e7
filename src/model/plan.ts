/**
 * A query after parsing: every token with its place in the text, and what follows from the tokens. Positions and lengths are in UTF-16
 * units of the original text.
 */
import type { FieldName, Filter } from './filter.ts'
import type { Note } from './page.ts'

export interface Span {
  readonly position: number
  readonly length: number
}

/** Sign of a token: `+` requires it, `-` excludes it, null only searches for it. */
export type Sign = '+' | '-' | null

/** A word with escapes resolved, and sign and boost removed. */
export interface WordToken extends Span {
  readonly kind: 'word'
  readonly sign: Sign
  readonly text: string
  /** Weight in (0, 10]; 1 unless the query gives one. */
  readonly boost: number
  /** Whether it follows a closing quote or parenthesis without a blank. */
  readonly glued: boolean
}

/** A phrase: words in quotes, with runs of blanks reduced to one. */
export interface PhraseToken extends Span {
  readonly kind: 'phrase'
  readonly sign: Sign
  readonly text: string
  readonly boost: number
}

export type FieldOperator = ':' | ':=' | ':~' | ':<' | ':<=' | ':>' | ':>=' | ':*' | ':()'

/** One value of a field condition; a quoted value is always text. */
export interface FieldOperand extends Span {
  readonly text: string
  readonly quoted: boolean
}

export interface FieldToken extends Span {
  readonly kind: 'field'
  readonly sign: Sign
  /** Name of the field as typed. */
  readonly name: string
  readonly operator: FieldOperator
  /** Values of the condition: one; none after `:*`; one or more in a list. */
  readonly operands: readonly FieldOperand[]
}

export type QueryToken = WordToken | PhraseToken | FieldToken

/** A term for ranking: a plain or included word, or a word of a phrase. */
export interface QueryTerm extends Span {
  readonly text: string
  readonly boost: number
}

/** A required condition: the word, or the adjacent words, must occur (or must not). */
export interface Operand extends Span {
  readonly text: string
  readonly phrase: boolean
}

/** A boosted word or phrase as a whole: its vector is added to that of the query, multiplied by `boost - 1`. */
export interface Boosted extends Span {
  readonly text: string
  readonly boost: number
}

export interface FieldCondition extends Span {
  readonly field: FieldName
  /** With its sign: that of a condition with a minus is negated. */
  readonly filter: Filter
}

export interface ParsedQuery {
  /** Text of the query, with unpaired surrogates replaced and control characters turned into blanks; same length as given. */
  readonly text: string
  readonly tokens: readonly QueryToken[]
  /** Terms for the word leg, in order; a repeated word is repeated here. */
  readonly terms: readonly QueryTerm[]
  /** Phrases in quotes that must occur; they count in ranking too. */
  readonly phrases: readonly Operand[]
  /** Phrases in quotes that need not occur, but raise entries that contain them. */
  readonly preferred: readonly Operand[]
  /** Included words and phrases, `+word` and `+"…"`, that must occur; they count in ranking too. */
  readonly must: readonly Operand[]
  readonly mustNot: readonly Operand[]
  readonly fields: readonly FieldCondition[]
  /** All conditions of `fields` combined, or null. */
  readonly filter: Filter | null
  /** Text to embed: without signs and exclusions, with included words and phrases in their places. Empty: nothing to embed. */
  readonly residual: string
  readonly boosts: readonly Boosted[]
  /** Notes for the requester, such as about a word that looks like a misspelt field. */
  readonly notes: readonly Note[]
}
