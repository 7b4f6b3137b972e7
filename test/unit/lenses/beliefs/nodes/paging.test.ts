/** Lists of several nodes, read to their end: what is this node's own does not end where the first page's gathering did. */
import { describe, expect, it } from 'vitest'
import type { EngineOptions } from '../../../../../src/engine/options.ts'
import { ordersOf } from '../../../../../src/lenses/beliefs/paging/cached-order.ts'
import { stateOf } from '../../../../../src/lenses/beliefs/state.ts'
import { beliefsOf } from '../../../../../src/openings/beliefs.ts'
import {
  type Birds,
  type BirdsAnswer,
  EVERYWHERE,
  idsOf,
  openBirds,
  PUBLIC,
  SHARED,
  say,
} from '../../../../support/nodes-world.ts'

const OWN = 40

/** Own beliefs and others' of every likeness to the question. */
async function manyVoices(options: Partial<EngineOptions> = {}) {
  const birds = await openBirds(options)
  for (let at = 0; at < OWN; at++) {
    const words = 'swifts '.repeat(1 + (at % 7)) + 'sleep '.repeat(at % 5)
    await say(birds.home, 'ana', `own ${at}`, `${words} ${at}`, { confidence: { source_reliability: (at % 11) / 11 } })
  }
  for (let at = 0; at < 4; at++) {
    await say(birds.north, 'bo', `shared ${at}`, `${'swifts '.repeat(1 + at)}${at}`, SHARED)
    await say(birds.south, 'dee', `public ${at}`, `${'swifts '.repeat(1 + at)}sleep ${at}`, PUBLIC)
  }
  return birds
}

async function pagesOf(birds: Birds, options: object, between: (page: number) => Promise<unknown> = async () => {}) {
  const pages: BirdsAnswer[] = []
  let cursor: unknown = null
  do {
    const page = await birds.ask('swifts', { ...options, cursor })
    pages.push(page)
    cursor = page['next_cursor'] ?? null
    await between(pages.length)
  } while (cursor !== null)
  return pages
}

const idsOfAll = (pages: readonly BirdsAnswer[]) => pages.flatMap(idsOf)
const codes = (page?: BirdsAnswer) => ((page?.['warnings'] ?? []) as { code: string }[]).map(({ code }) => code)

describe('pages of an answer of several nodes', () => {
  it.each(['rerank', 'interleave', 'waterfall'])(
    'go on to the last belief of this node, merged by %s',
    async merge_strategy => {
      await using birds = await manyVoices()
      const whole = await birds.ask('swifts', { limit: 100, merge_strategy })
      expect(whole.beliefs).toHaveLength(OWN + 8)
      for (const limit of [1, 3, 7]) {
        const pages = await pagesOf(birds, { limit, max_results_per_node: 4, merge_strategy })
        expect(idsOfAll(pages)).toEqual(idsOf(whole))
        expect(pages.flatMap(({ beliefs }) => beliefs.map(({ rank }) => rank))).toEqual(
          whole.beliefs.map((_, at) => at + 1),
        )
        expect(pages.at(-1)).toMatchObject({ total_count: OWN + 8, count_exact: true })
      }
    },
  )

  it('show nothing twice, and nothing that was written meanwhile', async () => {
    await using birds = await manyVoices()
    const options = { limit: 6, max_results_per_node: 4 }
    const whole = idsOfAll(await pagesOf(birds, options))
    const late = (page: number) => say(birds.home, 'ana', `late ${page}`, 'swifts')
    birds.world.clock.set(birds.world.clock.now() + 1_000)
    const pages = await pagesOf(birds, options, async page => {
      birds.world.clock.set(birds.world.clock.now() + 1_000)
      await late(page)
    })
    expect(idsOfAll(pages)).toEqual(whole)
  })

  it('BQ-143: show nothing twice and skip nothing, though the own trust changes meanwhile', async () => {
    await using birds = await manyVoices()
    await birds.home.call('agents.create', 'owner', { id: 'fay' })
    for (let at = 0; at < 20; at++)
      await say(birds.home, 'fay', `of fay ${at}`, `${'swifts '.repeat(1 + (at % 7))}of fay ${at}`, PUBLIC)
    const options = { limit: 6, max_results_per_node: 4 }
    const whole = idsOf(await birds.ask('swifts', { limit: 200 }))
    expect(whole).toHaveLength(OWN + 20 + 8)
    for (const [first, then] of [
      [0, 1],
      [1, 0],
    ]) {
      await birds.home.call('trust.set', 'ana', { target: 'fay', trust_level: first })
      const pages = await pagesOf(birds, options, async page => {
        if (page === 2) await birds.home.call('trust.set', 'ana', { target: 'fay', trust_level: then })
      })
      expect(idsOfAll(pages).toSorted()).toEqual(whole.toSorted())
    }
  })

  it('go on alike where the list is held no more', async () => {
    await using birds = await manyVoices()
    const options = { limit: 6, max_results_per_node: 4 }
    const whole = idsOfAll(await pagesOf(birds, options))
    const held = ordersOf(stateOf(birds.home.engine.host('beliefs')))
    const pages = await pagesOf(birds, options, async () => held.clear())
    expect(idsOfAll(pages)).toEqual(whole)
    expect(whole).toHaveLength(OWN + 8)
  })

  it('leave out what has gone, and show all the rest', async () => {
    await using birds = await manyVoices()
    const whole = idsOfAll(await pagesOf(birds, { limit: 5, max_results_per_node: 4 }))
    const gone = whole.filter(id => id.startsWith('own')).at(-3) as string
    const shown = whole.filter(id => id.startsWith('own'))[0] as string
    const pages = await pagesOf(birds, { limit: 5, max_results_per_node: 4 }, async page => {
      if (page !== 1) return
      for (const belief_id of [gone, shown]) await birds.home.call('beliefs.delete', 'ana', { belief_id })
    })
    expect(idsOfAll(pages)).toEqual(whole.filter(id => id !== gone))
  })

  it('come piece by piece to the same end', async () => {
    await using birds = await manyVoices()
    const whole = await birds.ask('swifts', { limit: 100 })
    const beliefs = beliefsOf(birds.home.engine, { id: 'ana' })
    const ids: string[] = []
    const options = { ...EVERYWHERE, limit: OWN, max_results_per_node: 4, chunk_size: 7 }
    for await (const chunk of beliefs.stream({ semantic: 'swifts', options })) {
      ids.push(...chunk.beliefs.map(({ belief }) => belief.id))
    }
    expect(ids).toEqual(idsOf(whole).slice(0, OWN))
  })

  it('BQ-118: say at their end which nodes have more than they were asked for, and what to raise', async () => {
    await using birds = await manyVoices()
    const pages = await pagesOf(birds, { limit: 20, max_results_per_node: 3 })
    expect(pages.slice(0, -1).flatMap(codes)).toEqual([])
    expect(pages.at(-1)?.['warnings']).toEqual([
      {
        code: 'nodes_cut',
        message:
          'north, south have more that match: each gives at most max_results_per_node, 3 here. Raise it (to 1000 at most), or narrow the query.',
      },
    ])
    expect(codes((await pagesOf(birds, { limit: 20, max_results_per_node: 4 })).at(-1))).toEqual([])
  })
})
