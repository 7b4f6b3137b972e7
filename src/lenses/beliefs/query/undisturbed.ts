/** Work over one state of the store that pauses (QE-019): what changed at a pause makes it begin again. */
import type { Steps, Turns } from '../../../base/turns.ts'
import type { Store } from '../../../store/store.ts'

/** How often work is begun before it holds the state that this process reads until its end: so it ends, however often others write. */
const ATTEMPTS = 4

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
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ended = await turns.run(whileSame(store, store.read(begin)))
    if (ended !== null) return ended.value
  }
  // Nothing is committed there any more, but an index that others read may still catch up with what was.
  const untilSame = function* (): Steps<T> {
    for (;;) {
      const ended = yield* whileSame(store, begin())
      if (ended !== null) return ended.value
    }
  }
  return store.readInSteps(untilSame, turns)
}

type Ended<T> = { readonly value: T }

/** Null: it is not the same any more. */
function* whileSame<T>(store: Store, { steps, isSame }: Begun<T>): Steps<Ended<T> | null> {
  for (let paused = false; ; ) {
    const step = store.read(() => (paused && !isSame() ? null : steps.next(paused)))
    if (step === null) return null
    if (step.done === true) return { value: step.value }
    paused = yield
  }
}
