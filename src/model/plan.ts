/**
 * A question after parsing: every token with its place in the text, and what follows from the tokens. Positions and
 * lengths are UTF-16 units of the text as it was given.
 */
import type { FieldName, Filter } from './filter.ts'
import type { Note } from './page.ts'

export interface Span {
  readonly position: number
  readonly length: number
}

/** `+` asks for it, `-` shuts it out, null merely looks for it. */
export type Sign = '+' | '-' | null

/** A word as meant: escapes resolved, sign and boost taken off. */
export interface WordToken extends Span {
  readonly kind: 'word'
  readonly sign: Sign
  readonly text: string
  /** In (0, 10]; 1 unless the question says otherwise. */
  readonly boost: number
  /** Follows a closing quote or parenthesis without a blank. */
  readonly glued: boolean
}

/** Words in quotes: their text with runs of blanks made one. */
export interface PhraseToken extends Span {
  readonly kind: 'phrase'
  readonly sign: Sign
  readonly text: string
  readonly boost: number
}

export type FieldOperator = ':' | ':=' | ':~' | ':<' | ':<=' | ':>' | ':>=' | ':*' | ':()'

/** One value of a field condition; a quoted one is text and nothing else. */
export interface FieldOperand extends Span {
  readonly text: string
  readonly quoted: boolean
}

export interface FieldToken extends Span {
  readonly kind: 'field'
  readonly sign: Sign
  /** As typed. */
  readonly name: string
  readonly operator: FieldOperator
  /** One; none after `:*`; one or more in a list. */
  readonly operands: readonly FieldOperand[]
}

export type QueryToken = WordToken | PhraseToken | FieldToken

/** Something to rank by: a plain or included word, or a word of a phrase. */
export interface QueryTerm extends Span {
  readonly text: string
  readonly boost: number
}

/** A hard condition: the word, or the words next to each other, must occur (or must not). */
export interface Operand extends Span {
  readonly text: string
  readonly phrase: boolean
}

/** A boosted word or phrase, whole: its vector is added to the question's, `boost - 1` times. */
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
  /** The question, with unpaired surrogates replaced and control characters made blanks; same length as given. */
  readonly text: string
  readonly tokens: readonly QueryToken[]
  /** For the word leg, in order; a repeated word comes again. */
  readonly terms: readonly QueryTerm[]
  /** `"…"`: must occur, and is ranked by. */
  readonly phrases: readonly Operand[]
  /** `"…"` that need not occur: it raises what holds it. */
  readonly preferred: readonly Operand[]
  /** `+word`, `+"…"`: must occur, and is ranked by. */
  readonly must: readonly Operand[]
  readonly mustNot: readonly Operand[]
  readonly fields: readonly FieldCondition[]
  /** All of `fields` together, or null. */
  readonly filter: Filter | null
  /** What to embed: signs and exclusions gone, included words and phrases in their places. Empty: nothing to embed. */
  readonly residual: string
  readonly boosts: readonly Boosted[]
  /** What the requester may want to know, as a word that looks like a misspelt field. */
  readonly notes: readonly Note[]
}
