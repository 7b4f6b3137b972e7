/**
 * Makes the keys of each seed once, for `vi.mock` of identity/keys.ts: random worlds make the same few again and again, and that
 * takes longer than all else. The keys are real.
 */
import type * as Keys from '../../src/identity/keys.ts'

export async function keptKeys(original: () => Promise<unknown>): Promise<typeof Keys> {
  // The cast: it is what the mocked module exports.
  const actual = (await original()) as typeof Keys
  const made = new Map<string, ReturnType<typeof actual.keysOf>>()
  const keysOf: typeof actual.keysOf = seed => {
    const name = Buffer.from(seed).toString('hex')
    const keys = made.get(name) ?? actual.keysOf(seed)
    made.set(name, keys)
    return keys
  }
  return { ...actual, keysOf }
}
