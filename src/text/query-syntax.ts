/** What can be wrong with a question, and the one error that says so. */
import { QuerentError } from '../model/errors.ts'
import type { Span } from '../model/plan.ts'

export type SyntaxReason =
  | 'unterminated_quote'
  | 'empty_phrase'
  | 'unterminated_list'
  | 'empty_list'
  | 'empty_value'
  | 'boost_out_of_range'
  | 'boost_on_exclusion'
  | 'only_exclusions'
  | 'invalid_value'
  | 'lone_sign'
  | 'unknown_field'

/** `details` are reason, position, length (inside the text) and hint. */
export function querySyntax(reason: SyntaxReason, at: Span, message: string, hint: string): QuerentError {
  const where = `${message} (at position ${at.position})`
  return new QuerentError('query_syntax', `${where}. ${hint}`, {
    reason,
    position: at.position,
    length: at.length,
    hint,
  })
}
