/** What one engine has come to know of other nodes since it was opened. */
import { Recent } from '../../../../base/recent.ts'
import type { LensHost } from '../../../lens.ts'
import { Breaker } from './breaker.ts'

interface KnownNode {
  readonly breaker: Breaker
  /** Key of the model that it embeds with; undefined: it has not answered yet. */
  model: string | null | undefined
  /** Machine time. */
  lastAnswerAt: number | null
}

const MOST_VERIFIED = 50_000
const MOST_EMBEDDED = 10_000

export class NodeBook {
  readonly #nodes = new Map<string, KnownNode>()
  /** Statements whose signature was found good, by their hash, signer and signature. */
  readonly verified: Recent<string, true> = new Recent(MOST_VERIFIED)
  /** Vectors made here of texts that came without one, by content and domains. */
  readonly vectors: Recent<string, { vector: Float32Array | null }> = new Recent(MOST_EMBEDDED)

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

const BOOKS = new WeakMap<LensHost, NodeBook>()

export function nodeBookOf(host: LensHost): NodeBook {
  const known = BOOKS.get(host)
  if (known !== undefined) return known
  const made = new NodeBook()
  BOOKS.set(host, made)
  return made
}
