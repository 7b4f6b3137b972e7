/**
 * What a holder is called in answers that come through a federation (BQ-101): the same for one requester and federation,
 * another for each other requester or federation, and of no use without the store's secret.
 */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Clock } from '../../../base/clock.ts'
import { Recent } from '../../../base/recent.ts'
import { sign } from '../../../base/signature.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'

const SECRET = 'beliefs.secret'
const SECRET_BYTES = 32
/** For the writers of other processes: a question has its time limit. */
const WAIT_MS = 50
const PREFIX = 'holder:'

/** `holder:` and 26 characters. No agent can be called so: names have no colon. */
export function pseudonymOf(secret: string, federation: string, requester: string, holder: string): string {
  // The length says where the requester's name ends: names may hold blanks, secrets and federations do not.
  return MADE.get(`${secret} ${federation} ${requester.length} ${requester} ${holder}`, () => {
    const name = canonicalJson(['pseudonym', federation, requester, holder])
    return `${PREFIX}${sign(secret, name).slice(0, 26)}`
  })
}

/** Who was shown is shown again, and a signature costs more than all else that is told of a belief. */
const MADE = new Recent<string, string>(50_000)

/** The store's secret. Where none can be written, one for as long as the store is open. */
export class Secret {
  readonly #store: Store
  readonly #random: (bytes: number) => Uint8Array
  readonly #clock: Clock
  #known: string | null = null

  constructor(store: Store, random: (bytes: number) => Uint8Array, clock: Clock) {
    this.#store = store
    this.#random = random
    this.#clock = clock
  }

  /** Sees that there is one. Not within a read. */
  make(): void {
    this.#known ??= this.#store.meta(SECRET) ?? this.#written()
  }

  get value(): string {
    this.#known ??= this.#store.meta(SECRET) ?? this.#fresh()
    return this.#known
  }

  #written(): string {
    const made = this.#fresh()
    const write = (writer: StoreWriter) => {
      const meanwhile = writer.meta(SECRET)
      if (meanwhile === undefined) writer.setMeta(SECRET, made)
      return meanwhile ?? made
    }
    try {
      return this.#store.write(this.#clock.now(), write, WAIT_MS)
    } catch (error) {
      if (!(error instanceof QuerentError)) throw error
      return made
    }
  }

  #fresh(): string {
    return Buffer.from(this.#random(SECRET_BYTES)).toString('base64url')
  }
}
