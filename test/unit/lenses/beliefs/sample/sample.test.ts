/** The sample is what it says it is, and the seed's four example queries run on it as printed (BQ-030). */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import type { QueryResult, RankedBelief } from '../../../../../src/lenses/beliefs/model.ts'
import {
  SAMPLE_AGENTS,
  SAMPLE_BELIEFS,
  SAMPLE_FEDERATIONS,
} from '../../../../../src/lenses/beliefs/sample/sample-beliefs.ts'
import type { BeliefQuery } from '../../../../../src/lenses/beliefs/schema/query.ts'
import { type OpenBeliefs, openBeliefs } from '../../../../../src/openings/beliefs.ts'
import { modelFolder } from '../../../../support/model.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-03-01T12:00:00Z')
const ALL = { scope: { local: true, federated: true, network: true } }
const beliefs = [...SAMPLE_BELIEFS.values()].flat()

let open: OpenBeliefs
beforeAll(async () => {
  const embedder = { provider: 'local', folder: modelFolder() } as const
  open = await openBeliefs({ store: 'memory', background: false, embedder, clock: new SettableClock(NOW) })
  await open.loadSample()
})
afterAll(() => open.close())

function fixture(name: string): BeliefQuery {
  return JSON.parse(readFileSync(new URL(`../../../../fixtures/beliefs/${name}.json`, import.meta.url), 'utf8'))
}

function ask(name: string): Promise<QueryResult> {
  return open.as('my-agent-uuid').query(fixture(name))
}

const ids = ({ beliefs }: QueryResult): readonly string[] => beliefs.map(({ belief }) => belief.id)
const fields = (result: QueryResult, of: (one: RankedBelief) => unknown) => new Set(result.beliefs.map(of))

describe('the sample', () => {
  it('has over 300 beliefs of twelve agents in three federations', () => {
    expect(SAMPLE_AGENTS.map(({ id }) => id).sort()).toEqual([...SAMPLE_BELIEFS.keys()].sort())
    expect(SAMPLE_AGENTS).toHaveLength(12)
    expect(SAMPLE_FEDERATIONS).toHaveLength(3)
    expect(new Set(beliefs.map(({ id }) => id)).size).toBe(beliefs.length)
    const replaced = beliefs.filter(({ supersedes }) => supersedes !== undefined)
    expect(beliefs.length - replaced.length).toBeGreaterThan(300)
    // Chains of three among them.
    const middle = new Set(replaced.map(({ supersedes }) => supersedes))
    expect(replaced.filter(({ id }) => middle.has(id)).length).toBeGreaterThanOrEqual(3)
  })

  it('has what is private, shared, public, past, to come, derived from others and from outside, and contradicted', () => {
    expect(new Set(beliefs.map(({ visibility }) => visibility))).toEqual(new Set(['private', 'federated', 'public']))
    expect(new Set(beliefs.flatMap(({ federations = [] }) => federations))).toEqual(
      new Set(SAMPLE_FEDERATIONS.map(({ id }) => id)),
    )
    const known = new Set(beliefs.map(({ id }) => id))
    const sources = beliefs.flatMap(({ sources = [] }) => sources)
    expect(sources.filter(({ belief }) => belief !== undefined && !known.has(belief))).toEqual([])
    expect(sources.filter(({ external }) => external !== undefined).length).toBeGreaterThan(10)
    expect(sources.filter(({ as }) => as === 'contradicting').length).toBeGreaterThan(10)
    expect(beliefs.filter(({ validUntilDaysAgo = -1 }) => validUntilDaysAgo >= 0).length).toBeGreaterThan(5)
    expect(beliefs.filter(({ validFromDaysAgo = 0 }) => validFromDaysAgo < 0).length).toBeGreaterThan(1)
  })

  it('has a clique that repeats one false claim, endorses itself, and is distrusted', () => {
    const clique = SAMPLE_AGENTS.filter(({ id }) => id.startsWith('echo-'))
    expect(clique).toHaveLength(3)
    for (const { id, trusts } of clique) {
      const others = clique.filter(other => other.id !== id).map(other => other.id)
      expect(trusts.filter(({ level }) => level === 1).map(({ target }) => target)).toEqual(others)
    }
    const claim = 'mRNA vaccines rewrite the DNA of those who receive them.'
    expect(beliefs.filter(({ content }) => content === claim).map(({ holder }) => holder)).toEqual(
      clique.map(({ id }) => id),
    )
    const mine = SAMPLE_AGENTS.find(({ id }) => id === 'my-agent-uuid')
    expect(mine).toMatchObject({ trustGraph: 'my-trust-graph' })
    expect(mine?.trusts.find(({ target }) => target === 'echo-one')?.level).toBe(0)
  })

  it('is loaded with times counted back from the clock, once', async () => {
    const { belief, history } = await open
      .as('my-agent-uuid')
      .get({ belief_id: 'my-climate-budget-3', include_superseded: true })
    expect(belief.created_at).toBe(new Date(NOW - 14 * DAY_MS).toISOString())
    expect(history?.map(({ version }) => version).sort()).toEqual([1, 2, 3])
    await expect(open.loadSample()).rejects.toMatchObject({ code: 'INVALID_QUERY', details: { path: 'home' } })
    const { total } = await open.as('my-agent-uuid').count({ semantic: 'anything', options: { ...ALL, any: true } })
    expect(total).toBeGreaterThan(250)
  })

  it('has checked, signed trust and no fault for the doctor', async () => {
    expect((await open.as('my-agent-uuid').trust.list()).edges).toHaveLength(8)
    expect((await open.engine.doctor()).findings.filter(({ ok }) => !ok)).toEqual([])
  })
})

describe('the example queries of the seed, as printed', () => {
  it('1: what do I hold about climate change?', async () => {
    const result = await ask('climate')
    // BQ-043: the others of its own are about something else.
    expect(result.beliefs).toHaveLength(8)
    expect(fields(result, ({ belief }) => belief.holder_id)).toEqual(new Set(['my-agent-uuid']))
    expect(fields(result, ({ source }) => source.kind)).toEqual(new Set(['local']))
    expect(ids(result).slice(0, 4)).toEqual([
      'my-climate-cause',
      'my-climate-budget-3',
      'my-climate-warming',
      'my-climate-rain',
    ])
    expect(result.effective_weights).toMatchObject({ trust: 0.3, semantic: 0.35 })
  })

  it('2: quantum computing with over 80 % confidence from sources I trust', async () => {
    const result = await ask('quantum')
    expect(result.beliefs).toHaveLength(10)
    expect(result.coverage).toMatchObject({ local: true, network_queried: false })
    expect(result.coverage.federations_queried).toEqual(['care-circle', 'open-science'])
    expect(ids(result).slice(0, 3).sort()).toEqual(['my-quantum-error', 'my-quantum-limits', 'my-quantum-molecule'])
    const shared = result.beliefs.filter(({ source }) => source.kind === 'federated')
    expect(shared.length).toBeGreaterThan(2)
    for (const { belief } of shared) {
      expect(belief.id).toMatch(/^ql-/)
      // Holders of what is shared have other names.
      expect(belief.holder_id).toMatch(/^holder:/)
    }
    for (const { score } of result.beliefs) expect(score.components.confidence_score).toBeGreaterThanOrEqual(0.8)
    expect(result.effective_weights.trust).toBeCloseTo(0.54, 12)
  })

  it('3: recent medical knowledge on mRNA vaccines, verified, from everywhere, explained', async () => {
    const result = await ask('vaccines')
    expect(result.beliefs.length).toBeGreaterThan(30)
    const top = result.beliefs.slice(0, 12)
    for (const { belief, explanation } of top) {
      expect(belief.content).toMatch(/mRNA|myocarditis/i)
      expect(belief.confidence.corroboration).toBeGreaterThanOrEqual(0.6)
      expect(Date.parse(belief.created_at)).toBeGreaterThan(Date.parse('2024-01-01T00:00:00Z'))
      expect(belief.domains.some(domain => ['medical', 'science/biology'].includes(domain))).toBe(true)
      expect(explanation?.['summary']).toMatch(/\S/)
    }
    expect(new Set(top.map(({ belief }) => belief.holder_id)).size).toBeGreaterThan(2)
    // What the clique repeats comes behind all that is sound.
    const places = ids(result)
    expect(places.findIndex(id => id.startsWith('e'))).toBeGreaterThan(places.indexOf('br-no-dna'))
  })

  it('4: diverse opinions on AI regulation, from the network alone', async () => {
    const result = await ask('ai-regulation')
    expect(result.coverage).toMatchObject({ local: false, network_queried: true })
    const held = result.beliefs.map(({ belief }) => belief.holder_id)
    for (const holder of held) expect(held.filter(other => other === holder).length).toBeLessThanOrEqual(2)
    expect(result.beliefs[0]?.belief.id).toBe('my-ai-rules')
    const about = result.beliefs.filter(({ belief }) => /\bAI\b|licence|designs/.test(belief.content))
    expect(new Set(about.map(({ belief }) => belief.holder_id)).size).toBeGreaterThanOrEqual(4)
    for (const { source } of result.beliefs) expect(source.kind).toBe('network')
  })
})
