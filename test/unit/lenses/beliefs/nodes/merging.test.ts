/** How the results of several sources become one list (BQ-127 to BQ-131), and how it is read page by page and piece by piece. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { SettableClock } from '../../../../../src/base/clock.ts'
import { merged } from '../../../../../src/lenses/beliefs/answer/diversity.ts'
import type { MergeStrategy } from '../../../../../src/lenses/beliefs/model.ts'
import type { ScoredBelief } from '../../../../../src/lenses/beliefs/ranking/scored.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import { openMemoryStore } from '../../../../../src/store/sqlite-store.ts'
import { callOperation, type Json, openBeliefsEngine } from '../../../../support/beliefs-engine.ts'
import { NOW } from '../../../../support/nodes.ts'
import { comparable, EVERYWHERE, idsOf, openBirds, PUBLIC, SHARED, say } from '../../../../support/nodes-world.ts'

type Kind = ScoredBelief['source']['kind']

/** In the total order: the later ones score less. */
function listOf(...ids: readonly (readonly [string, Kind, string | null])[]): readonly ScoredBelief[] {
  return ids.map(
    ([id, kind, source], at) => ({ id, source: { kind, id: source }, final: 1 - at / 100 }) as ScoredBelief,
  )
}

function merge(strategy: MergeStrategy, list: readonly ScoredBelief[]): readonly string[] {
  return merged(strategy, list).map(({ id }) => id)
}

describe('one list of several', () => {
  const list = listOf(
    ['n1', 'network', 'x'],
    ['n2', 'network', 'x'],
    ['a1', 'federated', 'fa'],
    ['l1', 'local', null],
    ['m1', 'network', 'w'],
    ['l2', 'local', null],
  )

  it('BQ-127: interleave takes the best of each in turn, local, federations by id, network nodes by id, and passes over who has no more', () => {
    expect(merge('interleave', list)).toEqual(['l1', 'a1', 'm1', 'n1', 'l2', 'n2'])
    const example = listOf(
      ['n1', 'network', null],
      ['a1', 'federated', 'fa'],
      ['l1', 'local', null],
      ['n2', 'network', null],
      ['l2', 'local', null],
    )
    expect(merge('interleave', example)).toEqual(['l1', 'a1', 'n1', 'l2', 'n2'])
  })

  it('BQ-128: waterfall lists local, then federated, then network results, inside a tier in the total order', () => {
    expect(merge('waterfall', list)).toEqual(['l1', 'l2', 'a1', 'n1', 'n2', 'm1'])
  })

  it('BQ-129: rerank applies the total order to all', () => {
    expect(merge('rerank', list)).toEqual(list.map(({ id }) => id))
  })
})

describe('an answer of one node', () => {
  const BY_CONFIDENCE = { ranking_weights: { semantic: 0, confidence: 1, trust: 0, recency: 0 } }
  const sure = (source_reliability: number) => ({ confidence: { source_reliability } })

  /** In the total order: f1, l1, mine. */
  async function alone() {
    const store = openMemoryStore()
    const engine = await openBeliefsEngine({ store, clock: new SettableClock(NOW) })
    onTestFinished(() => engine.close())
    const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
    for (const id of ['cy', 'dee']) await call('agents.create', 'owner', { id })
    await call('federations.create', 'owner', { id: 'birds' })
    for (const agent of ['cy', 'dee']) await call('federations.set_member', 'owner', { federation: 'birds', agent })
    await call('beliefs.put', 'cy', { id: 'l1', content: 'swifts over the roof', ...sure(0.5) })
    await call('beliefs.put', 'dee', { id: 'f1', content: 'swifts over the lake', ...SHARED, ...sure(0.9) })
    await call('beliefs.put', 'dee', { id: 'n1', content: 'swifts over the hill', ...PUBLIC, ...sure(0.7) })
    await call('beliefs.put', 'cy', { id: 'l2', content: 'swifts over the town', ...PUBLIC, ...sure(0.1) })
    return async (options: Json, more: Json = {}) => {
      const asked = { semantic: 'swifts', context: BY_CONFIDENCE, options: { ...EVERYWHERE, ...options }, ...more }
      const pages: string[][] = []
      for (let cursor: unknown = null; cursor !== undefined; ) {
        const page = await call('beliefs.query', 'cy', { ...asked, options: { ...asked.options, cursor } })
        pages.push((page['beliefs'] as readonly { belief: { id: string } }[]).map(({ belief }) => belief.id))
        cursor = page['next_cursor']
      }
      return pages
    }
  }

  it('BQ-127, BQ-128, BQ-129: is merged as the query says where no other node is asked', async () => {
    const ask = await alone()
    expect(await ask({ merge_strategy: 'rerank' })).toEqual([['f1', 'n1', 'l1', 'l2']])
    expect(await ask({ merge_strategy: 'waterfall' })).toEqual([['l1', 'l2', 'f1', 'n1']])
    expect(await ask({ merge_strategy: 'interleave' })).toEqual([['l1', 'f1', 'n1', 'l2']])
  })

  it('BQ-143, BQ-148: has the same order in pages', async () => {
    const ask = await alone()
    expect(await ask({ merge_strategy: 'waterfall', limit: 1 })).toEqual([['l1'], ['l2'], ['f1'], ['n1']])
    expect(await ask({ merge_strategy: 'interleave', limit: 3 })).toEqual([['l1', 'f1', 'n1'], ['l2']])
  })

  it('BQ-131: keeps the merged order where diversity is enabled', async () => {
    const ask = await alone()
    const diversity = { enabled: true, max_per_holder: 1 }
    expect(await ask({ merge_strategy: 'waterfall', diversity })).toEqual([['l1', 'f1', 'n1']])
  })

  it("BQ-130: of copies the requester's own stands for the others, whatever source it comes from", async () => {
    const store = openMemoryStore()
    const engine = await openBeliefsEngine({ store, clock: new SettableClock(NOW) })
    onTestFinished(() => engine.close())
    const call = (operation: string, by: string, input: Json) => callOperation(engine, operation, by, input)
    for (const id of ['cy', 'dee']) await call('agents.create', 'owner', { id })
    await call('federations.create', 'owner', { id: 'birds' })
    for (const agent of ['cy', 'dee']) await call('federations.set_member', 'owner', { federation: 'birds', agent })
    await call('beliefs.put', 'cy', { id: 'mine', content: 'swifts', ...PUBLIC, ...sure(0.1) })
    await call('beliefs.put', 'dee', { id: 'theirs', content: 'swifts', ...SHARED, ...sure(0.9) })
    const options = { scope: { federated: true, network: true } }
    const found = await call('beliefs.query', 'cy', { semantic: 'swifts', context: BY_CONFIDENCE, options })
    expect(idsOf(found as unknown as Parameters<typeof idsOf>[0])).toEqual(['mine'])
  })
})

async function flock() {
  const birds = await openBirds()
  for (let at = 0; at < 6; at++) {
    await say(
      birds.home,
      'ana',
      `own ${at}`,
      `swifts over the ${['roof', 'lake', 'hill', 'town', 'wood', 'sea'][at]} of ana`,
    )
    await say(
      birds.north,
      at % 2 ? 'bo' : 'cy',
      `shared ${at}`,
      `swifts under the ${['roof', 'lake', 'hill', 'town', 'wood', 'sea'][at]} of birds`,
      SHARED,
    )
    await say(
      birds.south,
      at % 2 ? 'dee' : 'eli',
      `public ${at}`,
      `swifts by the ${['roof', 'lake', 'hill', 'town', 'wood', 'sea'][at]}`,
      PUBLIC,
    )
  }
  return birds
}

describe('an answer of several nodes', () => {
  it('BQ-127, BQ-128, BQ-129: is merged as the query says', async () => {
    await using birds = await flock()
    const kinds = async (merge_strategy: MergeStrategy) => {
      const { beliefs } = await birds.ask('swifts', { merge_strategy, limit: 9 })
      return beliefs.map(({ source }) => source.kind)
    }
    expect(await kinds('waterfall')).toEqual([...Array(6).fill('local'), ...Array(3).fill('federated')])
    expect(await kinds('interleave')).toEqual(Array(3).fill(['local', 'federated', 'network']).flat())
    const { beliefs } = await birds.ask('swifts', { limit: 18 })
    const finals = beliefs.map(({ score }) => score.final)
    expect(finals).toEqual(finals.toSorted((a, b) => b - a))
    expect(beliefs.map(({ rank }) => rank)).toEqual(finals.map((_, at) => at + 1))
  })

  it("BQ-130: of one id, and of one content, what is kept is the requester's own, else the first in order", async () => {
    await using birds = await flock()
    await say(birds.home, 'ana', 'mine', 'martins build with mud', { confidence: { source_reliability: 0.1 } })
    await say(birds.north, 'bo', 'theirs', 'martins build with mud', {
      ...SHARED,
      confidence: { source_reliability: 1 },
    })
    await say(birds.south, 'dee', 'everybody', 'martins build with mud', {
      ...PUBLIC,
      confidence: { source_reliability: 1 },
    })
    await say(birds.south, 'dee', 'shared 0', 'martins share an id', PUBLIC)
    // Where trust counts for nothing the requester's own is the least of the three.
    const distrustful = { context: { trust_weight: 0 } }
    const mud = idsOf(await birds.ask('martins mud', { limit: 50 }, distrustful)).filter(id =>
      ['mine', 'theirs', 'everybody'].includes(id),
    )
    expect(mud).toEqual(['mine'])
    const { beliefs } = await birds.ask('martins mud', { limit: 50, scope: { federated: true, network: true } })
    expect(beliefs.filter(({ belief }) => belief.content.endsWith('mud'))).toHaveLength(1)
    const all = idsOf(await birds.ask('swifts martins', { limit: 50 }))
    expect(all.filter(id => id === 'shared 0')).toHaveLength(1)
    const tiers = await birds.ask('martins', {
      limit: 50,
      scope: { federated: true, network: true },
      merge_strategy: 'waterfall',
    })
    expect(idsOf(tiers).filter(id => ['theirs', 'everybody'].includes(id))).toEqual(['theirs'])
  })

  it('BQ-131: copies raise no score, and with interleave and waterfall diversity applies its limits alone', async () => {
    await using birds = await flock()
    const scoreOf = async () => {
      const { beliefs } = await birds.ask('swifts roof', { limit: 50 })
      return beliefs.find(({ belief }) => belief.id === 'own 0')?.score.final
    }
    const before = await scoreOf()
    await say(birds.south, 'dee', 'copy', 'swifts over the roof of ana', PUBLIC)
    await say(birds.north, 'bo', 'copy too', 'swifts over the roof of ana', SHARED)
    expect(await scoreOf()).toBe(before)
    const diversity = { enabled: true, max_per_holder: 2, lambda: 0.3 }
    for (const merge_strategy of ['interleave', 'waterfall']) {
      const plain = idsOf(await birds.ask('swifts', { limit: 50, merge_strategy }))
      const spread = await birds.ask('swifts', { limit: 50, merge_strategy, diversity })
      const places = idsOf(spread).map(id => plain.indexOf(id))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      expect(spread.beliefs.every(({ score }) => score.components['diversity_penalty'] === 0)).toBe(true)
      const holders = Map.groupBy(spread.beliefs, ({ belief }) => belief.holder_id)
      expect([...holders.values()].every(list => list.length <= 2)).toBe(true)
    }
  })

  it.each(['rerank', 'interleave', 'waterfall'])(
    'is the same list page by page, merged by %s',
    async merge_strategy => {
      await using birds = await flock()
      const whole = idsOf(await birds.ask('swifts', { limit: 18, merge_strategy, max_results_per_node: 50 }))
      expect(whole).toHaveLength(18)
      const pages: string[] = []
      let cursor: unknown = null
      do {
        const page = await birds.ask('swifts', { limit: 5, merge_strategy, max_results_per_node: 50, cursor })
        pages.push(...idsOf(page))
        cursor = page['next_cursor'] ?? null
        await say(birds.south, 'dee', `late ${pages.length}`, 'swifts swifts swifts', PUBLIC)
      } while (cursor !== null)
      expect(pages).toEqual(whole)
      const offset = idsOf(
        await birds.ask('swifts', { limit: 5, offset: 10, merge_strategy, max_results_per_node: 50 }),
      )
      expect(offset).toHaveLength(5)
    },
  )

  it('leaves out of later pages what the requester may not see any more', async () => {
    await using birds = await flock()
    const first = await birds.ask('swifts', { limit: 3, merge_strategy: 'interleave' })
    await birds.home.call('federations.leave', 'ana', { federation: 'birds' })
    await birds.home.call('beliefs.delete', 'ana', { belief_id: 'own 5' })
    const rest = await birds.ask('swifts', { limit: 50, merge_strategy: 'interleave', cursor: first['next_cursor'] })
    expect(rest.beliefs.map(({ source }) => source.kind)).not.toContain('federated')
    expect(idsOf(rest)).not.toContain('own 5')
    expect(rest.beliefs).not.toHaveLength(0)
  })

  it('comes piece by piece in the same order, with what it says of the nodes at the end', async () => {
    await using birds = await flock()
    const whole = await birds.ask('swifts', { limit: 18 })
    const beliefs = beliefsOf(birds.home.engine, { id: 'ana' })
    const ids: string[] = []
    let last: unknown = null
    for await (const chunk of beliefs.stream({
      semantic: 'swifts',
      options: { ...EVERYWHERE, limit: 18, chunk_size: 4 },
    })) {
      ids.push(...chunk.beliefs.map(({ belief }) => belief.id))
      last = chunk
    }
    expect(ids).toEqual(idsOf(whole))
    expect(last).toMatchObject({ done: true, coverage: whole.coverage, total_count: 18 })
  })

  it('explains each result, whatever node it came from, and the parts add up to its score', async () => {
    await using birds = await flock()
    const { beliefs } = await birds.ask('swifts', { limit: 18, include_explanation: true, include_derivation: true })
    for (const { explanation, score, derivation_chain } of beliefs as unknown as {
      score: { final: number }
      explanation: Record<'semantic' | 'confidence' | 'trust' | 'recency', { contribution: number }>
      derivation_chain: { chain: readonly unknown[] }
    }[]) {
      const { semantic, confidence, trust, recency } = explanation
      const sum = [semantic, confidence, trust, recency].reduce((all, { contribution }) => all + contribution, 0)
      expect(sum).toBeCloseTo(score.final, 12)
      expect(derivation_chain.chain).toHaveLength(1)
    }
  })

  it('is ranked by words where there is no embedder', async () => {
    await using birds = await openBirds({ embedder: 'none' })
    await say(birds.home, 'ana', 'own', 'herons stand in the water')
    await say(birds.north, 'bo', 'shared', 'swifts nest under roofs', SHARED)
    await say(birds.south, 'dee', 'public', 'swifts fly south', PUBLIC)
    const { beliefs, warnings } = (await birds.ask('swifts')) as unknown as {
      beliefs: { belief: { id: string }; score: { components: { semantic_similarity: number } } }[]
      warnings: { code: string }[]
    }
    expect(warnings.map(({ code }) => code)).toContain('no_embedder')
    const meaning = new Map(beliefs.map(({ belief, score }) => [belief.id, score.components.semantic_similarity]))
    // BQ-043: what holds no word of the text takes no part.
    expect(meaning.has('own')).toBe(false)
    expect(Math.min(meaning.get('shared') ?? 0, meaning.get('public') ?? 0)).toBeGreaterThan(0.5)
  })

  it('is the same with or without what the requester may not see anywhere', async () => {
    const answers = []
    for (const isChanged of [false, true]) {
      await using birds = await flock()
      if (isChanged) {
        await say(birds.home, 'owner', 'hidden', 'swifts swifts swifts', { visibility: 'private' })
        await say(birds.north, 'bo', 'hidden', 'swifts swifts', { visibility: 'private' })
        await say(birds.south, 'dee', 'hidden', 'swifts', { visibility: 'private' })
        await birds.north.call('federations.create', 'bo', { id: 'others' })
        await birds.home.call('agents.create', 'owner', { id: 'zoe' })
      }
      const { as_of: _, ...rest } = await birds.ask('swifts', { limit: 18, include_explanation: true })
      answers.push(comparable(rest))
    }
    expect(answers[1]).toEqual(answers[0])
  })
})
