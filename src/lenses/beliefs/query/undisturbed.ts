/** Work over one state of the store that pauses (QE-019): what changed at a pause makes it begin again. */
import { atOnce, type Steps, type Turns } from '../../../base/turns.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Store } from '../../../store/store.ts'

/** How often work is begun before it keeps others from writing until its end: so it ends, however often they write. */
const ATTEMPTS = 4
/** How long it waits for the writers before it, ms. */
const WAIT_MS = 500

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
  const ended = await withoutWriters(store, turns, begin)
  return ended === null ? store.read(() => atOnce(begin().steps)) : ended.value
}

/**
 * In a transaction that writes nothing: writers wait for it, and one that cannot wait makes it run to its end first. Null where there can
 * be no such transaction: the store cannot be written, or another process writes all the time.
 */
async function withoutWriters<T>(store: Store, turns: Turns, begin: () => Begun<T>): Promise<Ended<T> | null> {
  try {
    return await store.writeInSteps(0, () => whileSame(store, store.read(begin)), turns, WAIT_MS)
  } catch (error) {
    if (error instanceof QuerentError && UNWRITABLE.has(error.code)) return null
    throw error
  }
}

const UNWRITABLE: ReadonlySet<string> = new Set(['store_locked', 'store_readonly', 'io_failed'])

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
