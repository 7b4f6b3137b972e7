/** First stage: the text becomes terms, conditions and what is to be embedded. */
import type { Query } from '../model/query.ts'
import { parseQuery } from '../text/query-parser.ts'
import type { QueryContext } from './context.ts'
import { allOf } from './filter-input.ts'
import type { Plan } from './stage.ts'
import { weightsWith } from './weights.ts'

/** Throws `query_syntax` with a position, `invalid_argument` for a blank question without a filter. */
export function parse(query: Query, context: QueryContext): Plan {
  const parsed = parseQuery(query.text, {
    fields: context.fields,
    now: query.asOf,
    allowEmpty: query.filter !== null,
  })
  for (const note of parsed.notes) context.note(note)
  const isList = parsed.terms.length === 0 && parsed.must.length === 0 && parsed.residual.trim() === ''
  return {
    query,
    parsed,
    mode: isList ? 'list' : query.mode,
    filter: allOf([query.filter, parsed.filter].filter(filter => filter !== null)),
    terms: parsed.terms.map(({ text, boost }) => ({ text, boost })),
    vector: null,
    weights: weightsWith(0),
    except: null,
    facts: {},
  }
}
