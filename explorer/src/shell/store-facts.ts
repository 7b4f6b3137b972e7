/** What the shell must know of the store before it can offer anything: its lenses, and whether its owner is asking. */
import { effect, signal } from '@preact/signals'
import type { Status } from '../../../src/engine/engine.ts'
import { call } from '../api.ts'
import { token, viewer } from './session.ts'

interface LensFacts {
  readonly name: string
  readonly summary: string
}

/** Null: not known yet, or nobody answers. */
export const lenses = signal<readonly LensFacts[] | null>(null)
/** Whether the person at this browser is the owner, also while the page shows what another viewer sees. */
export const isOwner = signal(false)

effect(() => {
  const asking = [token.value, viewer.value]
  void learn(() => asking[0] === token.value && asking[1] === viewer.value)
})

export function hasLens(name: string | undefined): boolean {
  return name === undefined || lenses.value === null || lenses.value.some(lens => lens.name === name)
}

async function learn(isCurrent: () => boolean): Promise<void> {
  try {
    const known = await call<{ lenses: readonly LensFacts[] }>('lenses')
    // Only the owner's status names the folder of the store. Nobody but the owner may choose another viewer.
    const owner = viewer.peek() !== null || (await call<Status>('status')).home !== null
    if (!isCurrent()) return
    lenses.value = known.lenses
    isOwner.value = owner
  } catch {
    // The view that is open says what is wrong.
    if (isCurrent()) isOwner.value = viewer.peek() !== null
  }
}
