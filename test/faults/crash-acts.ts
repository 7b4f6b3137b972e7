/** An endless history that a child plays until it is killed, and its parent plays after it. */
import type { Store } from '../../src/store/store.ts'
import { type Act, play } from '../support/play.ts'

/** How many acts the store has seen; written with each of them, in one transaction. */
export function actsTaken(store: Store): number {
  return Number(store.meta('acts taken') ?? 0)
}

/** Takes the next act of the cycle; the number of acts after it. */
export function takeNextAct(store: Store, acts: readonly Act[]): number {
  const taken = actsTaken(store) + 1
  const act = acts[taken % acts.length] as Act
  store.write(act.now, writer => {
    play(store, [act])
    writer.setMeta('acts taken', String(taken))
  })
  return taken
}
