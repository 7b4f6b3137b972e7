/** Count, facets, batch and derivation. */
import { describe, expect, it } from 'vitest'
import { EVERYTHING, openAskingWorld } from './world.ts'

const SCOPE = { scope: EVERYTHING }

describe('BQ-170: count', () => {
  it('says how much matches from each source, copies once, and the same as the query', async () => {
    const world = await openAskingWorld()
    world.join('f', 'ann', 'bob', 'cat')
    await world.put('ann', { content: 'Rain is wet.', visibility: 'private' })
    await world.put('bob', { content: 'Rain is wet.', visibility: 'public' })
    await world.put('bob', { content: 'Snow is cold.', visibility: 'public' })
    await world.put('bob', { content: 'Hail is hard.', visibility: 'federated', federation_ids: ['f'] })
    await world.put('cat', { content: 'Hail is hard.', visibility: 'federated', federation_ids: ['f'] })
    await world.put('cat', { content: 'Fog is thick.', visibility: 'private' })
    const query = { semantic: 'rain', options: { ...SCOPE, limit: 1, offset: 2 } }
    const count = await world.call('beliefs.count', query)
    expect(count).toMatchObject({ total: 3, exact: true, by_scope: { local: 1, federated: 1, network: 1 } })
    expect((await world.call('beliefs.query', query)).total_count).toBe(3)
    const local = await world.call('beliefs.count', { semantic: 'rain' })
    expect(local).toMatchObject({ total: 1, by_scope: { local: 1, federated: 0, network: 0 } })
  })
})

describe('BQ-171: facets', () => {
  it('counts values, most first, and says which the filters name', async () => {
    const world = await openAskingWorld()
    const high = Object.fromEntries(
      ['source_reliability', 'method_quality', 'internal_consistency', 'corroboration'].map(name => [name, 0.9]),
    )
    await world.put('ann', { content: 'One.', domains: ['science/physics', 'history'], confidence: high })
    await world.put('ann', { content: 'Two.', domains: ['science/physics'] })
    await world.put('bob', {
      content: 'Three.',
      domains: ['art'],
      visibility: 'public',
      derivation: { type: 'hearsay' },
    })
    const fields = ['domains', 'holder_id', 'derivation_type', 'visibility', 'confidence_bucket']
    const query = {
      semantic: 'anything',
      filters: { domains_include: ['Science:Physics', 'history', 'art'] },
      options: SCOPE,
    }
    const { facets, total } = await world.call('beliefs.facets', { query, fields })
    expect(total).toBe(3)
    expect(facets.domains).toEqual({
      values: [
        { value: 'science/physics', count: 2, selected: true },
        { value: 'art', count: 1, selected: true },
        { value: 'history', count: 1, selected: true },
      ],
      other_count: 0,
    })
    expect(facets.holder_id.values.map(({ value, count }: { value: string; count: number }) => [value, count])).toEqual(
      [
        ['ann', 2],
        ['bob', 1],
      ],
    )
    expect(facets.derivation_type.values[0]).toEqual({ value: 'assumption', count: 2, selected: false })
    expect(facets.visibility.values.map(({ value }: { value: string }) => value)).toEqual(['private', 'public'])
    expect(facets.confidence_bucket.values).toEqual([
      { value: 'medium', count: 2, selected: false },
      { value: 'high', count: 1, selected: false },
    ])
  })

  it('shows fifty values and counts the rest', async () => {
    const world = await openAskingWorld()
    const domains = Array.from({ length: 53 }, (_, at) => `d${String(at).padStart(2, '0')}`)
    await world.call('beliefs.put', {
      beliefs: domains.map(domain => ({ content: `About ${domain}.`, domains: [domain] })),
    })
    const { facets } = await world.call('beliefs.facets', { query: { semantic: 'x' }, fields: ['domains'] })
    expect(facets.domains.values.map(({ value }: { value: string }) => value)).toEqual(domains.slice(0, 50))
    expect(facets.domains.other_count).toBe(3)
  })

  it('refuses fields that there are not', async () => {
    const world = await openAskingWorld()
    const asking = world.call('beliefs.facets', { query: { semantic: 'x' }, fields: ['colour'] })
    await expect(asking).rejects.toMatchObject({ code: 'INVALID_QUERY', details: { path: 'fields[0]' } })
  })
})

describe('BQ-103: facets of what comes through federations', () => {
  it('name a value only from five holders on, and holders by pseudonyms alone', async () => {
    const world = await openAskingWorld()
    const others = ['b1', 'b2', 'b3', 'b4', 'b5']
    world.join('f', 'ann', ...others)
    for (const [at, holder] of others.entries()) {
      const shared = { visibility: 'federated', federation_ids: ['f'] }
      await world.put(holder, { content: `Common ${at}.`, domains: ['common'], ...shared })
      // Two of one holder do not make two holders.
      if (at < 4) await world.put(holder, { content: `Rare ${at}.`, domains: ['rare'], ...shared })
      if (at === 0) await world.put(holder, { content: 'Rare again.', domains: ['rare'], ...shared })
    }
    await world.put('ann', { content: 'Rare and mine.', domains: ['rare'] })
    const query = { semantic: 'common', options: SCOPE }
    const { facets } = await world.call('beliefs.facets', { query, fields: ['domains', 'holder_id'] })
    expect(facets.domains.values).toEqual([
      { value: 'common', count: 5, selected: false },
      { value: 'rare', count: 1, selected: false },
    ])
    expect(facets.domains.other_count).toBe(5)
    const holders = facets.holder_id.values.map(({ value }: { value: string }) => value)
    expect(holders.filter((name: string) => name.startsWith('holder:'))).toHaveLength(5)
    expect(holders.filter((name: string) => !name.startsWith('holder:'))).toEqual(['ann'])
    world.strict('f')
    const strict = await world.call('beliefs.facets', { query, fields: ['holder_id'] })
    expect(strict.facets.holder_id).toEqual({ values: [{ value: 'ann', count: 1, selected: false }], other_count: 10 })
  })
})

describe('BQ-175: batch', () => {
  it('settles each query on its own, in order', async () => {
    const world = await openAskingWorld()
    await world.put('ann', { content: 'Rain is wet.' })
    const answer = await world.call('beliefs.batch', {
      queries: [
        { semantic: 'rain' },
        { semantic: '', options: { limit: 0 } },
        7,
        { semantic: 'rain', options: { limit: 1 } },
      ],
    })
    expect(answer).toMatchObject({ succeeded: 2, failed: 2 })
    expect(answer.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false, false, true])
    expect(answer.results[0].result.beliefs).toHaveLength(1)
    expect(answer.results[1].error).toMatchObject({ type: 'QueryError', code: 'INVALID_QUERY', retryable: false })
    const [one, other] = [answer.results[1].error.request_id, answer.results[2].error.request_id]
    expect(one).toMatch(/^[0-9a-f]{24}$/)
    expect(one).not.toBe(other)
    expect(answer.total_time_ms).toBeGreaterThanOrEqual(0)
    await expect(world.call('beliefs.batch', { queries: [] })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
    const many = Array.from({ length: 21 }, () => ({ semantic: 'rain' }))
    await expect(world.call('beliefs.batch', { queries: many })).rejects.toMatchObject({ code: 'INVALID_QUERY' })
  })
})

describe('BQ-089, BQ-090: derivation', () => {
  it('goes as deep as asked, and ends where visibility ends', async () => {
    const world = await openAskingWorld()
    const open = { visibility: 'public' }
    const from = (...ids: readonly string[]) => ({
      derivation: { type: 'inference', sources: ids.map(belief_id => ({ belief_id })) },
    })
    const hidden = await world.put('bob', { content: 'A secret.', visibility: 'private' })
    const root = await world.put('bob', { content: 'A root.', ...open })
    const middle = await world.put('bob', { content: 'In the middle.', ...open, ...from(root, hidden) })
    const top = await world.put('bob', { content: 'On top.', ...open, ...from(middle) })
    const depths = async (input: object, viewer?: string) => {
      const { depth, chain } = await world.call('beliefs.derivation', { belief_id: top, ...input }, viewer)
      return { depth, ids: chain.map(({ belief_id }: { belief_id: string }) => belief_id) }
    }
    expect(await depths({})).toEqual({ depth: 2, ids: [top, middle, root] })
    expect(await depths({}, 'bob')).toEqual({ depth: 2, ids: [top, middle, root, hidden] })
    expect(await depths({ max_depth: 1 })).toEqual({ depth: 1, ids: [top, middle] })
    for (const belief_id of [hidden, 'nothing']) {
      const asking = world.call('beliefs.derivation', { belief_id })
      await expect(asking).rejects.toMatchObject({ details: { reason: 'not_found', path: 'belief_id' } })
    }
  })
})
