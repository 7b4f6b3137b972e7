/** Blends a profile's own score into the memory score, entry by entry (CQ-080). */
import { reasonOf } from '../errors.ts'
import type { EffectiveQuery, ResultRow, Warning } from '../model.ts'
import { copyJson } from './copy.ts'
import { type Awaitable, type ProfileHooks, QueryProfile } from './query-profile.ts'

export const MEMORY_SHARE = 0.7
export const CUSTOM_SHARE = 0.3

/** Entries named in the warning; the rest are counted. */
const MAX_NAMED = 10

export interface CustomScoring {
  /** The entry's score before ranking. `entry.score` is its memory score; without a usable custom one it stays that. */
  blend(entry: ResultRow): Awaitable<number>
  /** One at most: which entries kept their memory score, and why the first did. */
  readonly warnings: readonly Warning[]
}

export function customScoringOf(name: string, profile: ProfileHooks, query: EffectiveQuery): CustomScoring | null {
  const hook = profile.customScoring
  if (hook === undefined || hook === QueryProfile.prototype.customScoring) return null
  const failures: { readonly entry: string; readonly why: string }[] = []
  const blended = (entry: ResultRow, custom: unknown): number => {
    if (typeof custom === 'number' && Number.isFinite(custom)) {
      return MEMORY_SHARE * entry.score + CUSTOM_SHARE * Math.min(1, Math.max(0, custom))
    }
    return failed(entry, `expected a finite number, got ${typeof custom === 'number' ? custom : typeof custom}`)
  }
  const failed = (entry: ResultRow, why: string): number => {
    failures.push({ entry: entry.entry_id, why })
    return entry.score
  }
  return {
    blend: entry => {
      try {
        const custom: unknown = hook.call(profile, copyJson(entry, 'entry'), copyJson(query, 'query'))
        if (!(custom instanceof Promise)) return blended(entry, custom)
        return custom.then(
          (value: unknown) => blended(entry, value),
          error => failed(entry, reasonOf(error)),
        )
      } catch (error) {
        return failed(entry, reasonOf(error))
      }
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
