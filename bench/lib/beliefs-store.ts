/**
 * A home with 100,000 beliefs of 10,000 agents with 200,000 trust edges, made once and kept in bench/out: Zipf-distributed
 * prose of about 30 words, generated vectors, domains of a small tree, two years of creation times. Of ten beliefs eight
 * are public, one or two shared with the holder's federation (of twenty), the rest private. Every measurement works on a copy.
 */
import { constants, cpSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/base/canonical.ts'
import { SettableClock } from '../../src/base/clock.ts'
import { type Embedder, modelKey } from '../../src/embed/embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import type { BeliefDraft } from '../../src/lenses/beliefs/check/checked.ts'
import { DERIVATION_TYPES } from '../../src/lenses/beliefs/model.ts'
import { putBelief } from '../../src/lenses/beliefs/record/put.ts'
import { type EdgeDraft, putEdge } from '../../src/lenses/beliefs/trust/edges.ts'
import { AGENTS, FEDERATIONS, MEMBERSHIPS } from '../../src/store/core-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { seededUniform } from '../../src/testing/seeded.ts'
import { generated, openStandIn, ROWS } from './stand-in.ts'
import { ZipfTexts } from './text-data.ts'

export const BELIEFS: number = ROWS
export const AGENT_COUNT: number = ROWS / 10
export const EDGES_EACH = 20
const FEDERATION_COUNT = 20
const DAY = 86_400_000
/** When the questions are asked. */
export const ASKED_AT: number = Date.UTC(2026, 0, 1)
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

export interface BeliefsHome {
  readonly embedder: Embedder
  open(): Promise<Engine>
  remove(): void
}

export function agentName(at: number): string {
  return `agent-${at}`
}

export async function beliefsHome(): Promise<BeliefsHome> {
  const embedder = await openStandIn()
  const made = await madeHome(embedder)
  const folder = mkdtempSync(join(tmpdir(), 'querent-bench-'))
  cpSync(made, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return {
    embedder,
    open: () => openEngine({ home: folder, embedder, background: false, clock: new SettableClock(ASKED_AT) }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function madeHome(embedder: Embedder): Promise<string> {
  const out = fileURLToPath(new URL('../out', import.meta.url))
  const sources = ['store/sqlite/schema.ts', 'store/core-tables.ts', 'lenses/beliefs/tables.ts']
  const texts = sources.map(path => readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8'))
  const made = sha256([VERSION, modelKey(embedder.model), ...texts].join('\n')).slice(0, 8)
  const folder = join(out, `beliefs-${BELIEFS}-${made}`)
  if (!existsSync(folder)) {
    console.error(`  making a store of ${BELIEFS} beliefs in bench/out, once …`)
    for (const old of globSync(`beliefs-${BELIEFS}-????????`, { cwd: out })) rmSync(join(out, old), { recursive: true })
    const half = mkdtempSync(`${folder}-`)
    await (await openEngine({ home: half, create: true, embedder: 'none', background: false })).close()
    const store = openSqliteStore({ file: join(half, 'store.db') })
    fill(store, modelKey(embedder.model))
    store.close()
    renameSync(half, folder)
  }
  // Closing saves the snapshots where there are none, or none that this version understands.
  const engine = await openEngine({ home: folder, embedder, background: false })
  await engine.status()
  await engine.close()
  return folder
}

function fill(store: Store, model: string): void {
  const uniform = seededUniform(3)
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
  const started = ASKED_AT - 800 * DAY
  store.write(started, writer => {
    for (let at = 0; at < FEDERATION_COUNT; at++) {
      writer.table(FEDERATIONS).put({ id: `federation-${at}`, label: null, created_at: started })
    }
    for (let at = 0; at < AGENT_COUNT; at++) {
      const id = agentName(at)
      const reputation = uniform() < 0.5 ? Math.round(uniform() * 100) / 100 : null
      writer.table(AGENTS).put({ id, label: null, created_at: started, reputation })
      const federation = `federation-${at % FEDERATION_COUNT}`
      writer.table(MEMBERSHIPS).put({ federation, agent: id, status: 'active', updated_at: started })
    }
  })
  for (let from = 0; from < AGENT_COUNT; from += 500) {
    store.write(started, writer => {
      for (let at = from; at < from + 500; at++) {
        const targets = new Set<number>()
        while (targets.size < EDGES_EACH) targets.add(Math.floor(uniform() * AGENT_COUNT))
        targets.delete(at)
        for (const target of targets) {
          const level = Math.round(uniform() * 100) / 100
          const domains: [string, number][] = uniform() < 0.2 ? [[domainAt(uniform()), uniform()]] : []
          const draft: EdgeDraft = {
            target: agentName(target),
            level,
            domains: Object.fromEntries(domains),
            basis: [{ type: 'DIRECT_INTERACTION', confidence: 1 }],
            persistent: false,
            exposure: 'private',
            signed: null,
          }
          putEdge(writer, agentName(at), draft, { now: ASKED_AT - Math.floor(uniform() * 400) * DAY, random })
        }
      }
    })
    if (from % 2_000 === 0) console.error(`  edges of ${from} agents`)
  }
  const texts = new ZipfTexts(9)
  const step = 1000
  let last = 0
  for (let from = 0; from < BELIEFS; from += step) {
    store.write(started, writer => {
      for (let at = from; at < from + step; at++) {
        const holder = agentName(Math.floor(uniform() * AGENT_COUNT))
        const now = ASKED_AT - Math.floor(uniform() * 730 * DAY)
        putBelief({ writer, holder, now, model, newId: () => `belief-${at}` }, draftOf(at, holder, now))
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
  // A feed that was tidied up, as it would be in a store of that age.
  store.write(ASKED_AT, writer => writer.pruneChanges(writer.lastSeq()))

  function draftOf(at: number, holder: string, now: number): BeliefDraft {
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
      federationIds: visibility === 'federated' ? [`federation-${Number(holder.slice(6)) % FEDERATION_COUNT}`] : [],
    }
  }
}

function domainAt(share: number): string {
  return DOMAINS[Math.floor(share * DOMAINS.length)] as string
}
