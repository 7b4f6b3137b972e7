/** Checks a query (BQ-024 to BQ-026): every fault of it is told at once. */
import type { Asker, CheckedQuery } from './checked.ts'

/** Throws INVALID_QUERY or INVALID_FILTERS with all faults, else UNAUTHORIZED. */
export function checkQuery(input: unknown, asker: Asker): CheckedQuery {
  throw new Error(`not written yet ${String(input)} ${asker.id}`)
}
