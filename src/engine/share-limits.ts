/** Limits of requesters where several processes answer them: none knows what the others have let through. */
import type { LimitSettings } from './limit-settings.ts'

/**
 * The share of one process: whole, rounded down, so that all together let through no more than the whole; but at least 1,
 * since nobody is to be shut out by the process that his connection happens to meet.
 */
export function shareOf(limits: LimitSettings, processes: number): LimitSettings {
  const share = (whole: number): number => Math.max(1, Math.floor(whole / processes))
  // Bytes are counted in the store, for all processes together.
  const { bytesPerViewer, questionsPerDay, alikePerHour } = limits
  return {
    enabled: limits.enabled,
    unitsPerMinute: share(limits.unitsPerMinute),
    burst: share(limits.burst),
    subscriptions: share(limits.subscriptions),
    streams: share(limits.streams),
    bytesPerViewer,
    questionsPerDay: questionsPerDay === null ? null : share(questionsPerDay),
    alikePerHour: alikePerHour === null ? null : share(alikePerHour),
  }
}
