/** A text that is asked as it stands: without operators, fields and conditions. */
import type { ParsedQuery } from '../model/plan.ts'

export function unparsed(text: string): ParsedQuery {
  return {
    text,
    tokens: [],
    terms: [],
    phrases: [],
    preferred: [],
    must: [],
    mustNot: [],
    fields: [],
    filter: null,
    residual: text,
    boosts: [],
    notes: [],
  }
}
