/** How much matches a query (BQ-170): copies counted once, whatever page is asked for. */
import { asked } from '../query/asked.ts'
import type { Call } from '../query/call.ts'
import type { countAnswer } from '../schema/answers.ts'
import type { CheckedQuery } from '../schema/query.ts'
import type { Value } from '../schema/values.ts'
import type { BeliefsState } from '../state.ts'

export function countMatches(state: BeliefsState, query: CheckedQuery, call: Call): Promise<Value<typeof countAnswer>> {
  return asked(state, query, call, ({ matches, isCut }, warnings) => ({
    total: matches.count,
    exact: !isCut,
    by_scope: { ...matches.counts() },
    warnings: warnings.map(warning => ({ ...warning })),
  }))
}
