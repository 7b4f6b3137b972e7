/** Where one sitting ends and the next begins, for exports that do not say. */
import type { Instant } from '../../../base/clock.ts'

/** Silence after which a new session begins: longer than a meal or a meeting, shorter than a night. */
export const SESSION_GAP_MS = 6 * 60 * 60 * 1000

export interface Sat {
  readonly id: string
  /** The export's own session. */
  readonly session: string | null
  readonly at: Instant | null
}

/**
 * A session for each message, in order: the export's own, else named by its first message, so that it keeps its name when
 * a longer export has more messages after it. A message without a time stays in the session of the one before.
 */
export function sessionsOf(messages: readonly Sat[]): readonly string[] {
  const found: string[] = []
  let current: string | null = null
  let isOwn = false
  let last: Instant | null = null
  for (const { id, session, at } of messages) {
    const isPause = last !== null && at !== null && at - last > SESSION_GAP_MS
    if (session !== null) {
      current = session
      isOwn = true
    } else if (current === null || isOwn || isPause) {
      current = id
      isOwn = false
    }
    found.push(current)
    if (at !== null) last = at
  }
  return found
}
