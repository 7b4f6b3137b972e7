/** In which order some messages were said: their times tell, whatever came into the store first. */
import type { Instant } from '../../../base/clock.ts'

export interface SaidAt {
  /** Only messages of one thread have positions in one order. */
  readonly thread: string
  readonly position: number
  readonly at: Instant | null
}

/**
 * Their places in the list, the earliest first. What bears no time was said with the one before it in its thread, or else
 * with the one after it; a thread without any time comes last. Of one moment, the thread that is first in the list.
 */
export function saidOrder(messages: readonly SaidAt[]): readonly number[] {
  const threads = Map.groupBy(messages.keys(), place => (messages[place] as SaidAt).thread)
  const placed = [...threads.values()].flatMap((places, thread) => {
    const ordered = places.map(place => ({ place, ...(messages[place] as SaidAt) })).sort(byPosition)
    let last = ordered.find(({ at }) => at !== null)?.at ?? Number.POSITIVE_INFINITY
    return ordered.map(({ place, position, at }) => {
      last = at ?? last
      return { place, thread, position, at: last }
    })
  })
  const byTime = placed.sort((a, b) => compare(a.at, b.at) || a.thread - b.thread || byPosition(a, b))
  return byTime.map(({ place }) => place)
}

function byPosition(a: Pick<SaidAt, 'position'>, b: Pick<SaidAt, 'position'>): number {
  return a.position - b.position
}

/** Of infinities too, whose difference is no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}
