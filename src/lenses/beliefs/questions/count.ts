/** How much matches a query (BQ-170): copies counted once, whatever page is asked for. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { CheckedQuery } from '../check/checked.ts'
import { asked } from '../query/asked.ts'
import type { Call } from '../query/call.ts'
import type { BeliefsState } from '../state.ts'

export function countMatches(state: BeliefsState, query: CheckedQuery, call: Call): Promise<JsonObject> {
  return asked(state, query, call, ({ matches }, warnings) => ({
    total: matches.count,
    exact: true,
    by_scope: { ...matches.counts() },
    warnings: warnings.map(warning => ({ ...warning })),
  }))
}
