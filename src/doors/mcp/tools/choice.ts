/** What a table of tools says of each. */
import type { JsonObject } from '../../../base/canonical.ts'

/** Where an answer holds what can be long, for clients that have only so much room. Paths are `field` or `field.inner`. */
export interface AnswerShape {
  /** List that can be cut; absent: the answer itself is the one thing in it. */
  readonly items?: string
  /** Text of an item that can be cut. */
  readonly text?: string
  /** Fields of an item that a concise answer keeps. */
  readonly concise?: readonly string[]
  /** Where the input says how many items are wanted, and the answer what goes on after them; absent: it cannot. */
  readonly page?: { readonly limit: string; readonly cursor: string }
  /** Whether items are entries, which are resources too. */
  readonly linked?: boolean
}

export interface ToolChoice {
  readonly operation: string
  /** Absent: the operation's name in snake_case. */
  readonly name?: string
  readonly title: string
  /** What it does, when to use it, what comes back, what to use instead; absent: the operation's summary. */
  readonly description?: string
  /** Fields of the input that are shown, as paths; absent: all. */
  readonly fields?: readonly string[]
  readonly answer?: AnswerShape
  /** Top-level fields of the answer that are shown; absent: all. */
  readonly shows?: readonly string[]
  /** Whether the answer holds what somebody stored, which is data and no instruction. */
  readonly stored?: boolean
  /** Absent: as the operation's effect says. */
  readonly readOnly?: boolean
  /** Whether the operation ignores fields that it does not know; the tool then refuses them itself. */
  readonly ignoresUnknown?: boolean
  /** What to do next after an answer that itself says what went wrong; null: nothing did. Absent: failures are thrown. */
  readonly nextAfter?: (answer: JsonObject) => string | null
}
