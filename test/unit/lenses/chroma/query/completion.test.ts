/** Texts that name too few hashtags, and sets of hashtags chosen for a text. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { neighboursOf } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import type { Binding } from '../../../../../src/lenses/chroma/model.ts'
import { KnowledgePatchQueryProfile } from '../../../../../src/lenses/chroma/profiles/knowledge-patch.ts'
import { nodesWith } from '../../../../../src/lenses/chroma/query/question.ts'
import { stateOf } from '../../../../../src/lenses/chroma/state.ts'
import { LOCAL_OWNER } from '../../../../../src/model/viewer.ts'
import { openChroma } from '../../../../../src/openings/chroma.ts'
import { callOperation } from '../../../../support/beliefs-engine.ts'
import { ids } from '../../../../support/chroma-answers.ts'
import { it, openWorld, TAGS } from '../../../../support/open-chroma-world.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'

const FOXES = { label: 'Foxes', content: 'Foxes dig their dens under hedges.' }
const codes = (warnings: readonly { readonly code: string }[]) => warnings.map(({ code }) => code)

/** Three hashtags in all: no set of them keeps the rules. */
async function smallWorld(options = {}) {
  const chroma = await openChroma({ store: 'memory', background: false, ...options })
  for (const [hashtag, zone] of Object.entries({ c0: 'core', m0: 'mid', o0: 'outer' }))
    await chroma.assignHashtag(hashtag, { zone })
  return chroma
}

describe('a text that names no hashtag', () => {
  it('CQ-084, CQ-089: is asked by the hashtags of nodes like it', async ({ world }) => {
    const id = await world.node(FOXES)
    await world.node({ label: 'Rain', content: 'Rain falls on roads.', hashtags: [...TAGS.slice(0, 6), '#m7', '#o1'] })
    const { results, query, warnings } = await world.chroma.queryDetailed('hedges that foxes dig under')
    expect(results[0]?.entry_id).toBe(id)
    expect(query.hashtags).toEqual([...TAGS])
    expect([...query.completed_hashtags].sort()).toEqual([...TAGS].sort())
    expect(warnings).toMatchObject([{ code: 'hashtags_from_text', details: { hashtags: [...TAGS] } }])
  })

  it('CQ-089: is answered by nothing where no node is like it, and names the nearest hashtags', async ({ world }) => {
    await world.node(FOXES)
    const { results, warnings, verdict, query } = await world.chroma.queryDetailed('xylophones of m1x')
    expect({ results, verdict, hashtags: query.hashtags }).toEqual({
      results: [],
      verdict: 'nothing_relevant',
      hashtags: [],
    })
    expect(warnings).toMatchObject([{ code: 'no_known_hashtags' }])
    const nearest = warnings[0]?.details?.['hashtags'] as readonly string[]
    expect(nearest).toHaveLength(5)
    expect(nearest[0]).toMatch(/^#m1/)
  })

  it('CQ-089: is refused where completion is switched off, with what was found', async ({ world }) => {
    await world.node(FOXES)
    const refused = { name: 'ValidationError', code: 'invalid_hashtags' }
    await expect(world.chroma.query('hedges', { completeHashtags: false })).rejects.toMatchObject({
      ...refused,
      details: {
        hashtags: [],
        violations: ['core', 'outer', 'total'],
        counts: { core: 0, mid: 0, outer: 0, total: 0 },
      },
    })
    await expect(world.chroma.query('c0 m0', { completeHashtags: false })).rejects.toMatchObject({
      ...refused,
      details: { hashtags: ['#c0', '#m0'] },
    })
  })
})

describe('a text that names too few hashtags', () => {
  it('CQ-010, CQ-090: gets those of nodes, best first, and says which, whatever profile read it', async () => {
    const implicitTags = { c0: ['#o0', '#not_assigned'] }
    const knowledge_patch = new KnowledgePatchQueryProfile({ implicitTags })
    await using world = await openWorld({ profiles: { knowledge_patch } })
    await world.node()
    const added = async (text: string, profile?: string) =>
      (await world.chroma.queryDetailed(text, { profile })).query.completed_hashtags
    expect(await added('m0 c0')).toEqual(['#o0', '#m1', '#m2', '#m3', '#m4', '#m5'])
    expect(await added('m0 c0', 'code_search')).toEqual(['#o0', '#m1', '#m2', '#m3', '#m4', '#m5'])
    expect(await added('c0 | m0 | ', 'knowledge_patch')).toEqual(['#m1', '#m2', '#m3', '#m4', '#m5'])
    expect(await added(TAGS.join(' '))).toEqual([])
  })

  it('QE-019: reads the nodes that carry a hashtag in steps of 250', async ({ world }) => {
    for (let at = 0; at < 501; at++) await world.node()
    const host = world.chroma.engine.host('chroma')
    const pages = [...nodesWith(stateOf(host), host.accessScope(LOCAL_OWNER), '#m0', false)]
    expect(pages.map(({ length }) => length)).toEqual([250, 250, 1])
    const [m0] = stateOf(host).coordinates.resolveAll(['#m0'])
    const steps = neighboursOf(
      [m0 as Binding],
      () => pages,
      hashtag => world.chroma.resolveHashtag(hashtag),
    )
    for (const _ of pages) expect(steps.next(false).done).toBe(false)
    expect(steps.next(false).done).toBe(true)
  })

  it('CQ-090: gets those of rotten nodes only where they are asked for, else of the vocabulary', async ({ world }) => {
    const id = await world.node()
    await world.chroma.markRotten(id)
    const asked = await world.chroma.queryDetailed('m0')
    expect([ids(asked.results), codes(asked.warnings)]).toEqual([[], ['completed_from_vocabulary']])
    const rotten = await world.chroma.queryDetailed('m0', { includeRotten: true })
    expect([ids(rotten.results), codes(rotten.warnings)]).toEqual([[id], []])
    expect(rotten.query.hashtags).toEqual([...TAGS])
  })

  it('CQ-090: gets what is nearest in meaning where nodes have not enough, and says so', async ({ world }) => {
    await world.node({ label: 'x' })
    const { query, warnings } = await world.chroma.queryDetailed('m9 and c1')
    expect(query.hashtags).toContain('#m9')
    expect(warnings).toMatchObject([{ code: 'completed_from_vocabulary' }])
    expect(warnings[0]?.details?.['hashtags']).toEqual(query.completed_hashtags)
    expect(world.chroma.computeNodeColor(query.hashtags)).toEqual(query.color)
  })

  it('CQ-090, CQ-091: is refused where the vocabulary is too small, also the set of a profile', async () => {
    const profiles = { own: { parseInput: () => ({ hashtags: ['c0'] }) } }
    await using chroma = await smallWorld({ profiles })
    const refused = { name: 'ValidationError', code: 'invalid_hashtags' }
    await expect(chroma.query('m0')).rejects.toMatchObject(refused)
    await expect(chroma.query('anything', { profile: 'own' })).rejects.toMatchObject(refused)
    await using world = await openWorld({ profiles })
    expect((await world.chroma.queryDetailed('anything', { profile: 'own' })).query.hashtags).toContain('#c0')
  })
})

describe('a set of hashtags for a text', () => {
  it('CQ-143, CQ-149: keeps the rules for any text, what it names first, with zone, reason and score', async ({
    world,
  }) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.constantFrom('m0 and m9', 'c1 #m2, o1', 'c0 c1 c2')), async text => {
        const tags = await world.chroma.completeHashtags(text)
        const hashtags = tags.map(({ hashtag }) => hashtag)
        const named = world.chroma.suggestHashtags(text)
        world.chroma.computeNodeColor(hashtags)
        expect(hashtags.slice(0, named.length).toSorted()).toEqual([...named].sort())
        for (const [at, { reason, zone, score, hashtag }] of tags.entries()) {
          expect(reason).toBe(at < named.length ? 'named' : 'words')
          expect(zone).toBe(world.chroma.resolveHashtag(hashtag)?.zone)
          expect(score).toBeGreaterThanOrEqual(0)
          expect(score).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: 30 },
    )
    await expect(world.chroma.completeHashtags(7 as never)).rejects.toMatchObject({ code: 'invalid_parameter' })
    await using small = await smallWorld()
    await expect(small.completeHashtags('m0')).rejects.toMatchObject({ code: 'invalid_hashtags' })
  })

  it('CQ-149: goes by meaning where there is an embedder', async () => {
    await using world = await openWorld({ embedder: openToyEmbedder() })
    const tags = await world.chroma.completeHashtags('fox')
    expect(new Set(tags.map(({ reason }) => reason))).toEqual(new Set(['meaning']))
  })

  it('CQ-149: is chosen for a node with auto_tags, and the answer says which', async ({ world }) => {
    const { entry_id, tags } = await world.chroma.storeDetailed({ label: 'm3', content: 'About m5.', autoTags: true })
    const hashtags = tags?.map(({ hashtag }) => hashtag) ?? []
    expect(tags?.slice(0, 2)).toMatchObject([
      { hashtag: '#m3', reason: 'named' },
      { hashtag: '#m5', reason: 'named' },
    ])
    expect([...((await world.chroma.getNode(entry_id))?.hashtags ?? [])].sort()).toEqual(hashtags.toSorted())
    const none = { label: '', content: '' }
    await expect(world.chroma.store(none)).rejects.toMatchObject({ details: { parameter: 'hashtags' } })
    const call = (name: string, input: object) => callOperation(world.chroma.engine, name, 'owner', input)
    const stored = (await call('chroma.store', { ...none, auto_tags: true })) as { tags: readonly unknown[] }
    const suggested = (await call('chroma.suggest_hashtags', { content: 'm3', complete: true })) as { tags: unknown[] }
    expect([stored.tags.length, suggested.tags.length]).toEqual([8, 8])
  })
})

it('CQ-151: warns of rotten nodes that would be before the last result, and counts them', async ({ world }) => {
  const [near] = [await world.node(), await world.node()]
  const far = await world.node({ hashtags: [...TAGS.slice(0, 6), '#m7', '#o1'] })
  await world.chroma.markRotten(near as string)
  const warned = await world.chroma.queryDetailed(TAGS, { updateAccess: false })
  expect(ids(warned.results).at(-1)).toBe(far)
  expect(warned.warnings).toMatchObject([{ code: 'rotten_nearer', details: { count: 1 } }])
  expect((await world.chroma.queryDetailed(TAGS, { updateAccess: false, includeRotten: true })).warnings).toEqual([])
  await world.chroma.markRotten(far)
  await world.chroma.query(TAGS, { includeRotten: true, k: 2 })
  expect((await world.chroma.queryDetailed(TAGS, { updateAccess: false })).warnings).toEqual([])
})
