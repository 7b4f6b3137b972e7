/** First stage: the text becomes terms, conditions and what is to be embedded. */
import type { Query } from '../model/query.ts'
import { type ParseOptions, parseQuery } from '../text/query-parser.ts'
import type { QueryContext } from './context.ts'
import { allOf } from './filter-input.ts'
import { withFieldsThatExist } from './relax.ts'
import type { Plan } from './stage.ts'
import { weightsWith } from './weights.ts'

/** Throws `invalid_argument` for a blank question without a filter; in strict syntax `query_syntax` with a position. */
export function parse(query: Query, context: QueryContext): Plan {
  return parseWith({}, query, context)
}

/** The same for a lens whose grammar differs. */
export function parseWith(grammar: Pick<ParseOptions, 'allowsLoneSigns'>, query: Query, context: QueryContext): Plan {
  const options: ParseOptions = {
    ...grammar,
    fields: context.fields,
    now: query.asOf,
    allowEmpty: query.filter !== null,
    syntax: query.syntax,
  }
  const parsed = withFieldsThatExist(parseQuery(query.text, options), query, options, context)
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
