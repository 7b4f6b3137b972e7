/** Writes that come while a store of beliefs is asked: public beliefs, edges of trust and private beliefs in turn. */
import { sha256 } from '../../src/base/canonical.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { putBelief } from '../../src/lenses/beliefs/record/write.ts'
import type { BeliefDraft } from '../../src/lenses/beliefs/schema/belief.ts'
import { putEdge } from '../../src/lenses/beliefs/trust/edges.ts'
import type { Store } from '../../src/store/store.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { AGENT_COUNT, ASKED_AT, agentName } from './beliefs-store.ts'
import { heldOut } from './stand-in.ts'

/** Of three writes one is a public belief, one an edge, one a belief that its holder alone sees. */
export class BeliefWrites {
  readonly #engine: Engine
  readonly #model: string
  readonly #requesters: number
  readonly #uniform = seededUniform(17)
  #made = 0
  /** When, by id. */
  readonly committed: Map<string, number> = new Map()

  /** The first `requesters` agents write nothing. */
  constructor(engine: Engine, model: string, requesters: number) {
    this.#engine = engine
    this.#model = model
    this.#requesters = requesters
  }

  next(): void {
    const kind = this.#made % 3
    if (kind === 0) this.belief('public')
    else if (kind === 1) this.#edge()
    else this.belief('private')
  }

  /** With a vector that lies as near to a question as any belief that was written for it; by agents that nobody asks as. */
  belief(visibility: 'public' | 'private'): void {
    const at = this.#made++
    const holder = agentName(this.#requesters + Math.floor(this.#uniform() * (AGENT_COUNT - this.#requesters)))
    const content = `A belief that is written while others watch: ${at}.`
    this.#store.write(ASKED_AT, writer => {
      putBelief(
        { writer, holder, now: ASKED_AT, model: this.#model, newId: () => `live-${at}` },
        draftOf(content, visibility),
      )
      const entry = writer.newestEntry()
      const chunk = writer.chunksOf(entry)[0]?.key as number
      writer.putVectors(this.#model, [{ chunk, vector: heldOut(at % 1000) }])
    })
    this.committed.set(`live-${at}`, performance.now())
  }

  #edge(): void {
    this.#made++
    const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(this.#uniform() * 256))
    const owner = Math.floor(this.#uniform() * AGENT_COUNT)
    const target = (owner + 1 + Math.floor(this.#uniform() * (AGENT_COUNT - 1))) % AGENT_COUNT
    const draft = {
      target: agentName(target),
      level: Math.round(this.#uniform() * 100) / 100,
      ...{ domains: {}, basis: [], persistent: false, exposure: 'private' as const, signed: null },
    }
    this.#store.write(ASKED_AT, writer => putEdge(writer, agentName(owner), draft, { now: ASKED_AT, random }))
  }

  get #store(): Store {
    return this.#engine.host('beliefs').store
  }
}

function draftOf(content: string, visibility: 'public' | 'private'): BeliefDraft {
  return {
    id: null,
    content,
    contentHash: sha256(content),
    confidence: {
      source_reliability: 0.6,
      method_quality: 0.6,
      internal_consistency: 0.8,
      temporal_freshness: 1,
      corroboration: 0.3,
      domain_applicability: 0.8,
    },
    validFrom: ASKED_AT,
    validUntil: null,
    derivation: { type: 'observation', sources: [], method_description: null, confidence_rationale: null, note: null },
    domains: ['science/biology'],
    visibility,
    federationIds: [],
  }
}
