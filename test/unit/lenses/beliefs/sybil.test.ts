/**
 * A thousand invented agents that trust each other and all stand behind one claim do not lift it (BQ-075, BQ-079, BQ-080,
 * BQ-131): not for somebody who trusts none of them, and at most to the cap for somebody who fell for one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../src/base/clock.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import type { RankedBelief } from '../../../../src/lenses/beliefs/model.ts'
import { putBelief, writeBeliefs } from '../../../../src/lenses/beliefs/record/write.ts'
import { raiseRevision } from '../../../../src/lenses/beliefs/trust/agent-facts.ts'
import { putEdge } from '../../../../src/lenses/beliefs/trust/edges.ts'
import { AGENTS } from '../../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../../src/store/sqlite-store.ts'
import { callOperation, openBeliefsEngine } from '../../../support/beliefs-engine.ts'
import { seededBytes } from '../../../support/seeded.ts'
import { checkDraft } from './schema/checks.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const CLIQUE = Array.from({ length: 1000 }, (_, at) => `fake${at}`)
/** Of a clique of a thousand, so many edges each; every one reaches every other over a few. */
const EACH = 8
const CAP = 0.3
/** The toy embedder gives both the same vector: they are equal in all but who says them. */
const CLAIM = 'The fox sleeps in the garden by day.'
const HONEST = 'The vixen sleeps in the garden by day.'

let engine: Engine
beforeAll(async () => {
  const random = seededBytes(1)
  const store = openMemoryStore()
  engine = await openBeliefsEngine({ store, clock: new SettableClock(NOW), random })
  const host = engine.host('beliefs')
  store.write(NOW, writer => {
    const nothing = { label: null, did: null, reputation: null, reputation_by_domain: null, trust_graph: null }
    for (const id of ['ann', 'eve', 'hana', ...CLIQUE]) writer.table(AGENTS).put({ ...nothing, id, created_at: 0 })
    raiseRevision(writer, 'agents')
    const trust = (owner: string, target: string) => {
      const more = { domains: {}, basis: [], persistent: true, exposure: 'exposed' as const, signed: null }
      putEdge(writer, owner, { target, level: 1, ...more }, { now: NOW, random })
    }
    for (const [at, fake] of CLIQUE.entries()) {
      for (let step = 0; step < EACH; step++) trust(fake, CLIQUE[(at + 3 ** step) % CLIQUE.length] as string)
      if (at !== 500) trust(fake, 'fake500')
    }
    trust('eve', 'fake0')
  })
  const put = (holder: string, draft: object) =>
    writeBeliefs(host, holder, NOW, writing => putBelief(writing, checkDraft({ visibility: 'public', ...draft }, NOW)))
  put('hana', { id: 'b honest', content: HONEST })
  put('fake500', { id: 'a claim', content: CLAIM })
  const sources = [{ belief_id: 'a claim', contribution_type: 'supporting' }]
  for (const [at, fake] of CLIQUE.entries()) {
    // One half says the same once more, the other endorses it.
    const content = at % 2 === 0 ? CLAIM : `It is so, says ${fake}.`
    if (at !== 500 && at !== 0) put(fake, { content, derivation: { type: 'inference', sources } })
  }
  await host.embedded?.(new AbortController().signal)
})
afterAll(() => engine.close())

async function asked(viewer: string, context: object): Promise<readonly RankedBelief[]> {
  const options = { scope: { network: true }, limit: 1000, dry_run: true }
  const { beliefs } = await callOperation(engine, 'beliefs.query', viewer, { semantic: 'fox sleeps', context, options })
  return beliefs as readonly RankedBelief[]
}

const trustOf = (belief: RankedBelief | undefined) => belief?.score.components.trust_score

describe.each([{}, { max_trust_hops: 5, transitive_damping: 0.9, trust_weight: 1 }])('with the context %j', context => {
  it('is worth no more than a stranger to somebody with no edge into the clique', async () => {
    const beliefs = await asked('ann', context)
    const honest = beliefs.find(({ belief }) => belief.id === 'b honest')
    const claims = beliefs.filter(({ belief }) => belief.content === CLAIM)
    expect(claims.length).toBeGreaterThan(400)
    for (const claim of claims) {
      expect(trustOf(claim)).toBe(0.1)
      expect(claim.score.final).toBe(honest?.score.final)
    }
  })

  it('is worth the cap at most to somebody with one edge', async () => {
    const beliefs = await asked('eve', context)
    const claims = beliefs.filter(({ belief }) => belief.holder_id?.startsWith('fake'))
    const trusts = claims.map(trustOf) as number[]
    // It tells nothing unless the clique is reached at all.
    expect(Math.max(...trusts)).toBe(CAP)
    expect(trustOf(claims.find(({ belief }) => belief.id === 'a claim'))).toBe(CAP)
    expect(trustOf(beliefs.find(({ belief }) => belief.id === 'b honest'))).toBe(0.1)
  })
})
