/**
 * A parsed query text: every token with its place in the text, and the terms and conditions that follow from the tokens. Positions and
 * lengths are in UTF-16 units of the original text.
 */
import type { FieldName, Filter } from './filter.ts'
import type { Note } from './page.ts'

export interface Span {
  readonly position: number
  readonly length: number
}

/** Sign of a token: `+` requires the token, `-` excludes it; null: it is searched but not required. */
export type Sign = '+' | '-' | null

/** A word of the query's text, with escapes resolved, and without its sign and boost. */
export interface WordToken extends Span {
  readonly kind: 'word'
  readonly sign: Sign
  readonly text: string
  /** Weight of the word, above 0 and at most 10; 1 unless the query gives one. */
  readonly boost: number
  /**
   * Whether the word directly follows a closing quote or parenthesis, so that no blank separates the word from that quote or parenthesis.
   */
  readonly glued: boolean
}

/** A phrase in the query's text: words in quotes, where runs of blanks count as one. */
export interface PhraseToken extends Span {
  readonly kind: 'phrase'
  readonly sign: Sign
  readonly text: string
  readonly boost: number
}

export type FieldOperator = ':' | ':=' | ':~' | ':<' | ':<=' | ':>' | ':>=' | ':*' | ':()'

/** One value of a condition on a field; a value in quotes is always text, never a number or date. */
export interface FieldOperand extends Span {
  readonly text: string
  readonly quoted: boolean
}

export interface FieldToken extends Span {
  readonly kind: 'field'
  readonly sign: Sign
  /** Name of the field as the query spells it. */
  readonly name: string
  readonly operator: FieldOperator
  /** Values of the condition: usually one; none after `:*` (any value); one or more in a list `:(…)`. */
  readonly operands: readonly FieldOperand[]
}

export type QueryToken = WordToken | PhraseToken | FieldToken

/** A term by which entries are ranked: a plain word, a word with `+`, or a word of a phrase. */
export interface QueryTerm extends Span {
  readonly text: string
  readonly boost: number
}

/** A word or phrase that must occur in an entry, or must not; the words of a phrase must be adjacent. */
export interface Operand extends Span {
  readonly text: string
  readonly phrase: boolean
}

/** A word or phrase with a boost. Its vector, multiplied by `boost − 1`, is added to the query's vector. */
export interface Boosted extends Span {
  readonly text: string
  readonly boost: number
}

export interface FieldCondition extends Span {
  readonly field: FieldName
  /** The condition as a filter; negated where the query has a minus before the condition. */
  readonly filter: Filter
}

export interface ParsedQuery {
  /**
   * Text of the query, in which unpaired surrogates are replaced and control characters are blanks; it has the same length as the given
   * text.
   */
  readonly text: string
  readonly tokens: readonly QueryToken[]
  /** Terms for the search by words, in order; a word that is repeated in the query is repeated here. */
  readonly terms: readonly QueryTerm[]
  /** Phrases in quotes that must occur in a result; they count in ranking too. */
  readonly phrases: readonly Operand[]
  /** Phrases in quotes that need not occur; entries that contain them get a higher score. */
  readonly preferred: readonly Operand[]
  /** Words and phrases with a plus sign, `+word` and `+"…"`, which must occur in a result; they count in ranking too. */
  readonly must: readonly Operand[]
  readonly mustNot: readonly Operand[]
  readonly fields: readonly FieldCondition[]
  /** All conditions on fields combined into one filter; null: there is none. */
  readonly filter: Filter | null
  /**
   * The text from which the query's vector is made: without signs, conditions and excluded words, with required words and phrases in their
   * places. Empty: there is nothing to embed.
   */
  readonly residual: string
  readonly boosts: readonly Boosted[]
  /** Notes for the requester about the query's text, such as on a word that looks like a misspelt field. */
  readonly notes: readonly Note[]
}
