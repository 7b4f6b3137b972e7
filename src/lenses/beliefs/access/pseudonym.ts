/**
 * What a holder is called in answers that come through a federation (BQ-101): the same for one requester and federation,
 * another for each other requester or federation, and of no use without the store's secret.
 */
import { canonicalJson } from '../../../base/canonical.ts'
import { sign } from '../../../base/signature.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Store } from '../../../store/store.ts'

const SECRET = 'beliefs.secret'
const SECRET_BYTES = 32
const PREFIX = 'holder:'

/** `holder:` and 26 characters. No agent can be called so: names have no colon. */
export function pseudonymOf(secret: string, federation: string, requester: string, holder: string): string {
  const name = canonicalJson(['pseudonym', federation, requester, holder])
  return `${PREFIX}${sign(secret, name).slice(0, 26)}`
}

/** The store's secret, made when there is none. Where the store cannot be written, one for as long as it is open. */
export function secretOf(store: Store, random: (bytes: number) => Uint8Array, now: number): string {
  const known = store.meta(SECRET)
  if (known !== undefined) return known
  const made = Buffer.from(random(SECRET_BYTES)).toString('base64url')
  try {
    return store.write(now, writer => {
      const meanwhile = writer.meta(SECRET)
      if (meanwhile === undefined) writer.setMeta(SECRET, made)
      return meanwhile ?? made
    })
  } catch (error) {
    if (!(error instanceof QuerentError)) throw error
    return made
  }
}
