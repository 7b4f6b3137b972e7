/** Work over one state of the store that pauses (QE-019): what changed at a pause makes it begin again. */
import type { Steps, Turns } from '../../../base/turns.ts'
import type { Store } from '../../../store/store.ts'

/** How often work is begun before it goes on without a pause: so it ends, however often others write. */
const ATTEMPTS = 5

export interface Begun<T> {
  readonly steps: Steps<T>
  /** Asked after each pause: whether what the steps read is still as it was when they began. */
  isSame(): boolean
}

/**
 * Each step runs within one read of the store, so that it sees one commit. `begin` is called within a read too. Steps write
 * nothing. Rejects with what `begin`, a step or the check of `turns` throws.
 */
export async function undisturbed<T>(store: Store, turns: Turns, begin: () => Begun<T>): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const ended = await turns.run(whileSame(store, store.read(begin)))
    if (ended !== null) return ended.value
  }
  return store.read(() => {
    const { steps } = begin()
    let step = steps.next(false)
    while (step.done !== true) step = steps.next(false)
    return step.value
  })
}

/** Null: it is not the same any more. */
function* whileSame<T>(store: Store, { steps, isSame }: Begun<T>): Steps<{ readonly value: T } | null> {
  for (let paused = false; ; ) {
    const step = store.read(() => (paused && !isSame() ? null : steps.next(paused)))
    if (step === null) return null
    if (step.done === true) return { value: step.value }
    paused = yield
  }
}
