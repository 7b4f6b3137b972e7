/**
 * The entries that meet all required conditions of a query: its filter, validity at the query's time, and words and phrases that must or
 * must not occur.
 */
import type { Bitset } from '../base/bitset.ts'
import type { Steps } from '../base/turns.ts'
import type { EntryKey } from '../model/entry.ts'
import type { Operand } from '../model/plan.ts'
import type { QueryContext } from './context.ts'
import type { Plan } from './stage.ts'

/**
 * The visible entries that meet all conditions of the query; null when there is no condition, so that all visible entries meet them. Pauses
 * at least once for each required or excluded word or phrase.
 */
export function* allowedEntries(plan: Plan, context: QueryContext): Steps<Bitset | null> {
  let allow = filtered(plan, context)
  for (const { operand } of demands(plan)) {
    allow = yield* withWords(operand, allow, context)
    yield
  }
  for (const operand of plan.parsed.mustNot) {
    yield
    const shutOut = yield* withWords(operand, allow, context)
    if (shutOut.size > 0) allow = (allow ?? visible(context)).without(shutOut)
  }
  return allow
}

export interface Demand {
  readonly operand: Operand
  readonly how: 'must' | 'phrase'
}

/** The words and phrases that must occur in results: `+word`, `+"…"` and `"…"`. */
export function demands(plan: Plan): readonly Demand[] {
  return [
    ...plan.parsed.must.map(operand => ({ operand, how: 'must' as const })),
    ...plan.parsed.phrases.map(operand => ({ operand, how: 'phrase' as const })),
  ]
}

/**
 * The visible entries that meet the filter and are valid at the query's time; null where there is no filter and every visible entry is
 * valid.
 */
export function filtered(plan: Plan, context: QueryContext): Bitset | null {
  const { memo, reader, accessScope } = context
  const allow = plan.filter === null ? null : memo.matching(reader, accessScope, plan.filter)
  const invalid = memo.invalid(reader, plan.query.asOf)
  if (invalid.size === 0) return allow
  // Only visible entries are looked at: hidden ones must not even decide whether there is a condition, because indexes may search
  // differently when there is one.
  const shutOut = invalid.and(allow ?? visible(context))
  return shutOut.size === 0 ? allow : (allow ?? visible(context)).without(shutOut)
}

/** Those of the entries `allow` that contain the words of `operand`, adjacent and in order. */
export function* withWords(operand: Operand, allow: Bitset | null, context: QueryContext): Steps<Bitset> {
  const { partitions } = context.accessScope
  return yield* context.words.entriesWithInSteps(operand.text, allow === null ? { partitions } : { partitions, allow })
}

/** Whether any visible entry contains the word or phrase `operand`; cheaper than finding all entries that do. */
export function isAnywhere(operand: Operand, { words, accessScope: { partitions } }: QueryContext): boolean {
  return words.entriesWith(operand.text, { partitions }, 1).size > 0
}

/**
 * Those of the entries `allow` that contain some of the query's phrases that are not required, each with the share of these phrases that it
 * contains (above 0, at most 1). Pauses after each phrase.
 */
export function* phraseHolders(
  { parsed: { preferred } }: Plan,
  allow: Bitset | null,
  context: QueryContext,
): Steps<ReadonlyMap<EntryKey, number>> {
  const holders = new Map<EntryKey, number>()
  for (const phrase of preferred) {
    const found: Bitset = yield* withWords(phrase, allow, context)
    for (const entry of found) {
      holders.set(entry, (holders.get(entry) ?? 0) + 1 / preferred.length)
    }
    yield
  }
  return holders
}

function visible(context: QueryContext): Bitset {
  return context.memo.visible(context.reader, context.accessScope)
}
