/**
 * What one engine has come to know of other nodes since it was opened, and which of them rest: after some failures in a row a node
 * is not asked for a while, then one question tries whether it is back. Each rest is twice as long as the one before, on a clock
 * that nobody can set.
 */
import { onePer } from '../../../../base/one-per.ts'
import { Recent } from '../../../../base/recent.ts'
import type { Keys } from '../../../../identity/keys.ts'
import { QuerentError } from '../../../../model/errors.ts'
import { readByVersion } from '../../../../pipeline/many-rows.ts'
import { AGENTS } from '../../../../store/core-tables.ts'
import type { Store } from '../../../../store/store.ts'
import type { LensHost } from '../../../lens.ts'
import { ensureKeys, signingKeys } from '../../trust/agent-facts.ts'
import type { AskedSource } from '../guest.ts'

const FAILURES = 3
const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000

class Breaker {
  #failures = 0
  #restMs = FIRST_REST_MS
  #until = Number.NEGATIVE_INFINITY
  #isTrying = false

  /** In a row. */
  get failures(): number {
    return this.#failures
  }

  /** Milliseconds that it still rests. */
  restMsAt(now: number): number {
    return this.#failures < FAILURES ? 0 : Math.max(0, this.#until - now)
  }

  /** Whether to ask. Whoever gets true reports afterwards how it went. */
  mayAsk(now: number): boolean {
    if (this.#failures < FAILURES) return true
    if (this.restMsAt(now) > 0 || this.#isTrying) return false
    this.#isTrying = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#restMs = FIRST_REST_MS
    this.#isTrying = false
  }

  failed(now: number): void {
    const wasTrying = this.#isTrying
    this.#isTrying = false
    this.#failures++
    if (this.#failures < FAILURES) return
    if (wasTrying) this.#restMs = Math.min(LONGEST_REST_MS, 2 * this.#restMs)
    this.#until = now + this.#restMs
  }

  /** It was asked, and the outcome says nothing of the node: the requester left, or had no time. */
  gaveUp(): void {
    this.#isTrying = false
  }
}

interface KnownNode {
  readonly breaker: Breaker
  /** Key of the model that it embeds with; undefined: it has not answered yet. */
  model: string | null | undefined
  /** Machine time. */
  lastAnswerAt: number | null
}

const MAX_VERIFIED = 50_000
const MAX_EMBEDDED = 10_000

export class NodeBook {
  readonly #nodes = new Map<string, KnownNode>()
  /** Statements whose signature was found good, by their hash, signer and signature. */
  readonly verified: Recent<string, true> = new Recent(MAX_VERIFIED)
  /** Vectors made here of texts that came without one, by content and domains. */
  readonly vectors: Recent<string, Float32Array> = new Recent(MAX_EMBEDDED)

  /** By its did: another key is another node. */
  of(did: string): KnownNode {
    const known = this.#nodes.get(did)
    if (known !== undefined) return known
    const made: KnownNode = { breaker: new Breaker(), model: undefined, lastAnswerAt: null }
    this.#nodes.set(did, made)
    return made
  }

  forget(did: string): void {
    this.#nodes.delete(did)
  }
}

export const nodeBookOf: (host: LensHost) => NodeBook = onePer(() => new NodeBook())

/** Made where the requester has none yet: a write. Null: there are none, and none can be made. */
export async function askingKeys(host: LensHost, kind: AskedSource['kind'], requester: string): Promise<Keys | null> {
  const { store, random, clock } = host
  try {
    const known = knownKeys(host, kind, requester)
    if (known !== null || kind === 'network') return known
    return await store.writeWhenFree(clock.now(), writer => ensureKeys(writer, requester, bytes => random(bytes)))
  } catch (thrown) {
    if (thrown instanceof QuerentError) return null
    throw thrown
  }
}

/** The same, where they were made before; else null. */
export function knownKeys({ store, node }: LensHost, kind: AskedSource['kind'], requester: string): Keys | null {
  if (kind === 'network') return node?.keys() ?? null
  return store.read(reader => signingKeys(reader, requester))
}

/** What an agent with this key is called here; else the key itself. */
export function nameOfDid(store: Store, did: string): string {
  return namesOf(store).get(did) ?? did
}

const namesOf = readByVersion(AGENTS, (store): ReadonlyMap<string, string> => {
  const rows = store.table(AGENTS).scan({}, { columns: ['id', 'did'] })
  return new Map(rows.flatMap(({ id, did }) => (typeof did === 'string' ? [[did, id as string] as const] : [])))
})
