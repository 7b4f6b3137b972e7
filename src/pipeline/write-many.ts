/** Requests that write a few things, or many of them. */
import type { Instant } from '../base/clock.ts'
import { atOnce, type Steps, type Turns } from '../base/turns.ts'
import type { Store, StoreWriter } from '../store/store.ts'

/** Pieces written at once, some milliseconds: a write that pauses has a connection of its own, which takes a millisecond to open. */
const AT_ONCE = 20

/** One transaction; with pauses where `pieces`, the number of its steps, is not small. Rejects with what `turns` end it with. */
export function writeMany<T>(
  store: Store,
  now: Instant,
  pieces: number,
  body: (writer: StoreWriter) => Steps<T>,
  turns: Turns,
): Promise<T> {
  if (pieces > AT_ONCE) return store.writeInSteps(now, body, turns)
  return store.writeWhenFree(now, writer => atOnce(body(writer)))
}
