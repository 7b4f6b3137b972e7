/** Which records a period keeps, and what a source can be told of it. */
import { recordDate } from '../../model/record-date.ts'
import type { NumericDate, SourceCondition, SourceRecord } from '../../pipeline/source.ts'
import type { Period } from './request.ts'

export function isBounded({ since, until }: Period): boolean {
  return since !== null || until !== null
}

/** Undated records are a matter of the policy, whatever the bounds. */
export function keeps({ since, until, undated }: Period, { metadata }: Pick<SourceRecord, 'metadata'>): boolean {
  const date = recordDate(metadata)
  if (date === null) return undated === 'include'
  return (since === null || date >= since) && (until === null || date < until)
}

/** How many of what a period kept have no date; 0 where dates do not matter. */
export function undatedAmong(kept: readonly Pick<SourceRecord, 'metadata'>[], period: Period): number {
  return isBounded(period) ? kept.filter(({ metadata }) => recordDate(metadata) === null).length : 0
}

/** Conditions that drop nothing the period keeps; none where undated records would be lost. */
export function conditionsOf(
  { since, until, undated }: Period,
  numeric: NumericDate | null,
): readonly SourceCondition[] {
  if (numeric === null || (undated === 'include' && numeric.undated === null)) return []
  const { key, unit } = numeric
  const scale = unit === 's' ? 1000 : 1
  const conditions: SourceCondition[] = []
  if (since !== null) conditions.push({ key, op: 'gte', value: since / scale })
  // An upper bound would drop the undated ones, which stand at the end of time.
  if (until !== null && undated === 'exclude') conditions.push({ key, op: 'lt', value: until / scale })
  if (undated === 'exclude' && numeric.undated !== null && until === null) {
    conditions.push({ key, op: 'lt', value: numeric.undated })
  }
  return conditions
}
