/**
 * A home with 100,000 beliefs of 10,000 agents with 200,000 trust edges, made once and kept in bench/out: Zipf-distributed
 * prose of about 30 words, generated vectors, domains of a small tree, two years of creation times. Of ten beliefs eight
 * are public, one or two shared with the holder's federation (of twenty), the rest private. Every measurement works on a copy.
 */
import { sha256 } from '../../src/base/canonical.ts'
import { SettableClock } from '../../src/base/clock.ts'
import { type Embedder, modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { DERIVATION_TYPES } from '../../src/lenses/beliefs/model.ts'
import { putBelief } from '../../src/lenses/beliefs/record/write.ts'
import type { BeliefDraft } from '../../src/lenses/beliefs/schema/belief.ts'
import { type EdgeDraft, putEdge } from '../../src/lenses/beliefs/trust/edges.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import type { Store } from '../../src/store/store.ts'
import { seededUniform } from '../../test/support/seeded.ts'
import { copyOf, keptHome, madeOf } from './kept-store.ts'
import { generated, openStandIn, ROWS } from './stand-in.ts'
import { ZipfTexts } from './text-data.ts'

export const BELIEFS: number = ROWS
export const AGENT_COUNT: number = ROWS / 10
export const EDGES_EACH = 20
const FEDERATION_COUNT = 20
const DAY = 86_400_000
/** When the questions are asked. */
export const ASKED_AT: number = Date.UTC(2026, 0, 1)
/** When the agents and the store came to be. */
const STARTED = ASKED_AT - 800 * DAY
const DOMAINS = [
  'science/biology',
  'science/physics',
  'news/world',
  'tech/ai',
  'tech/web',
  'medical',
  'history',
  'math',
]
/** To be raised when what is made here changes. */
const VERSION = 1

/** Gone when disposed of. */
export interface BeliefsHome extends Disposable {
  readonly embedder: Embedder
  open(): Promise<Engine>
}

export function agentName(at: number): string {
  return `agent-${at}`
}

export async function beliefsHome(): Promise<BeliefsHome> {
  const embedder = await openStandIn()
  const model = modelKey(embedder.model)
  const made = madeOf([VERSION, model], ['store/sqlite/schema.ts', 'store/core-tables.ts', 'lenses/beliefs/tables.ts'])
  const kept = { name: `beliefs-${BELIEFS}`, made, holds: `${BELIEFS} beliefs` }
  const copy = copyOf(await keptHome(kept, embedder, store => fill(store, model)))
  return {
    embedder,
    open: () => openEngine({ home: copy.path, embedder, background: false, clock: new SettableClock(ASKED_AT) }),
    [Symbol.dispose]: () => copy[Symbol.dispose](),
  }
}

/** All of it from one stream of numbers, in this order. */
function fill(store: Store, model: string): void {
  const uniform = seededUniform(3)
  putAgents(store, uniform)
  putEdges(store, uniform)
  putBeliefs(store, uniform, model)
  // A feed that was tidied up, as it would be in a store of that age.
  store.write(ASKED_AT, writer => writer.pruneChanges(writer.lastSeq()))
}

type Uniform = () => number

function putAgents(store: Store, uniform: Uniform): void {
  store.write(STARTED, writer => {
    for (let at = 0; at < FEDERATION_COUNT; at++) {
      writer.table(FEDERATIONS).put({ id: federationName(at), label: null, created_at: STARTED })
    }
    for (let at = 0; at < AGENT_COUNT; at++) {
      const id = agentName(at)
      const reputation = uniform() < 0.5 ? hundredths(uniform()) : null
      writer.table(AGENTS).put({ id, label: null, created_at: STARTED, reputation })
      const federation = federationName(at)
      writer.table(MEMBERSHIPS).put({ federation, agent: id, status: 'active', updated_at: STARTED })
    }
  })
}

function putEdges(store: Store, uniform: Uniform): void {
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
  const step = 500
  for (let from = 0; from < AGENT_COUNT; from += step) {
    store.write(STARTED, writer => {
      for (let at = from; at < from + step; at++) {
        const targets = new Set<number>()
        while (targets.size < EDGES_EACH) targets.add(Math.floor(uniform() * AGENT_COUNT))
        targets.delete(at)
        for (const target of targets) {
          const draft = edgeTo(target, uniform)
          putEdge(writer, agentName(at), draft, { now: ASKED_AT - Math.floor(uniform() * 400) * DAY, random })
        }
      }
    })
    if (from % 2_000 === 0) console.error(`  edges of ${from} agents`)
  }
}

function edgeTo(target: number, uniform: Uniform): EdgeDraft {
  const level = hundredths(uniform())
  const domains: [string, number][] = uniform() < 0.2 ? [[domainAt(uniform()), uniform()]] : []
  return {
    target: agentName(target),
    level,
    domains: Object.fromEntries(domains),
    basis: [{ type: 'DIRECT_INTERACTION', confidence: 1 }],
    persistent: false,
    exposure: 'private',
    signed: null,
  }
}

function putBeliefs(store: Store, uniform: Uniform, model: string): void {
  const texts = new ZipfTexts(9)
  const step = 1000
  let last = 0
  for (let from = 0; from < BELIEFS; from += step) {
    store.write(STARTED, writer => {
      for (let at = from; at < from + step; at++) {
        const holder = Math.floor(uniform() * AGENT_COUNT)
        const now = ASKED_AT - Math.floor(uniform() * 730 * DAY)
        const draft = draftOf(at, holder, now, uniform, texts)
        putBelief({ writer, holder: agentName(holder), now, model, newId: () => `belief-${at}` }, draft)
      }
      const made = writer.scanEntries(last, step)
      last = made.at(-1) as number
      const vectors = made.map((entry, i) => {
        return { chunk: writer.chunksOf(entry)[0]?.key as number, vector: generated(from + i) }
      })
      writer.putVectors(model, vectors)
    })
    if (from % 10_000 === 0) console.error(`  ${from} beliefs`)
  }
}

function draftOf(at: number, holder: number, now: number, uniform: Uniform, texts: ZipfTexts): BeliefDraft {
  const place = at % 20
  const visibility = place < 16 ? 'public' : place < 19 ? 'federated' : 'private'
  const content = texts.prose(30)
  const some = () => (uniform() < 0.1 ? null : Math.round(uniform() * 1000) / 1000)
  return {
    id: null,
    content,
    contentHash: sha256(content),
    confidence: {
      source_reliability: some(),
      method_quality: some(),
      internal_consistency: some(),
      temporal_freshness: some(),
      corroboration: some(),
      domain_applicability: some(),
    },
    validFrom: now,
    validUntil: uniform() < 0.1 ? now + 365 * DAY : null,
    derivation: {
      type: DERIVATION_TYPES[at % DERIVATION_TYPES.length] as (typeof DERIVATION_TYPES)[number],
      sources: [],
      method_description: null,
      confidence_rationale: null,
      note: null,
    },
    domains: [DOMAINS[at % DOMAINS.length] as string],
    visibility,
    federationIds: visibility === 'federated' ? [federationName(holder)] : [],
  }
}

/** Of an agent by its number; also of a federation by its own. */
function federationName(at: number): string {
  return `federation-${at % FEDERATION_COUNT}`
}

function domainAt(share: number): string {
  return DOMAINS[Math.floor(share * DOMAINS.length)] as string
}

function hundredths(share: number): number {
  return Math.round(share * 100) / 100
}
