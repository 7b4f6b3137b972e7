/** A profile's own score, entry by entry (CQ-080). */
import type { EntryKey } from '../../../model/entry.ts'
import { reasonOf } from '../errors.ts'
import type { EffectiveQuery, ResultRow, Warning } from '../model.ts'
import { copyJson } from './copy.ts'
import { type ProfileHooks, QueryProfile } from './query-profile.ts'

export const MEMORY_SHARE = 0.7
export const CUSTOM_SHARE = 0.3

/** Entries named in the warning; the rest are counted. */
const MAX_NAMED = 10

export interface CustomScoring {
  /** From 0 to 1; null: it gave none. `row.score` is the memory score. What was scored with the same one is not scored again. */
  score(entry: EntryKey, row: ResultRow): Promise<number | null>
  /** One at most: which entries kept their memory score, and why the first did. */
  readonly warnings: readonly Warning[]
}

export function customScoringOf(name: string, profile: ProfileHooks, query: EffectiveQuery): CustomScoring | null {
  const hook = scoringHook(profile)
  if (hook === null) return null
  const failures: { readonly entry: string; readonly why: string }[] = []
  const known = new Map<EntryKey, { readonly memory: number; readonly own: number | null }>()
  const failed = ({ entry_id }: ResultRow, why: string): null => {
    failures.push({ entry: entry_id, why })
    return null
  }
  const clamped = (row: ResultRow, own: unknown): number | null => {
    if (typeof own === 'number' && Number.isFinite(own)) return Math.min(1, Math.max(0, own))
    return failed(row, `expected a finite number, got ${typeof own === 'number' ? own : typeof own}`)
  }
  return {
    score: async (entry, row) => {
      const before = known.get(entry)
      if (before?.memory === row.score) return before.own
      let own: number | null
      try {
        own = clamped(row, await hook.call(profile, copyJson(row, 'entry'), copyJson(query, 'query')))
      } catch (error) {
        own = failed(row, reasonOf(error))
      }
      known.set(entry, { memory: row.score, own })
      return own
    },
    get warnings() {
      const [first] = failures
      if (first === undefined) return []
      const message = `profile ${name}: customScoring gave no score for ${failures.length} entries (${first.why}); they keep their memory score`
      const entries = failures.slice(0, MAX_NAMED).map(({ entry }) => entry)
      return [{ code: 'custom_scoring_failed', message, details: { profile: name, entries, failed: failures.length } }]
    },
  }
}

/** Null: the profile leaves the score to memory. */
export function scoringHook({ customScoring }: ProfileHooks): QueryProfile['customScoring'] | null {
  return customScoring === undefined || customScoring === QueryProfile.prototype.customScoring ? null : customScoring
}
