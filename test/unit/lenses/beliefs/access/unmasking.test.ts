/** No version of a belief discloses another that is hidden, or the holder behind its pseudonym (BQ-005, BQ-090, BQ-099, BQ-112). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Engine } from '../../../../../src/engine/engine.ts'
import type { Belief } from '../../../../../src/lenses/beliefs/model.ts'
import { callOperation, makeCatalog } from '../../../../../src/ops/catalog.ts'
import { openTestEngine } from '../../../../support/engines.ts'

const PUBLIC = { visibility: 'public' }
const IN_LAB = { visibility: 'federated', federation_ids: ['lab'] }
const IN_CLUB = { visibility: 'federated', federation_ids: ['club'] }
const IN_CLUB_AND_LAB = { visibility: 'federated', federation_ids: ['club', 'lab'] }

let engine: Engine

beforeEach(async () => {
  engine = await openTestEngine()
  for (const federation of ['lab', 'club']) {
    await call('owner', 'federations.create', { id: federation, anonymity: 'pseudonyms' })
    for (const agent of ['ann', 'bob']) await call('owner', 'federations.set_member', { federation, agent })
  }
})
afterEach(() => engine.close())

function call(viewer: string, name: string, input: unknown): Promise<unknown> {
  const context = { viewer: { id: viewer }, signal: new AbortController().signal }
  return callOperation(makeCatalog(engine), engine, name, input, context)
}

async function past(viewer: string): Promise<readonly Belief[]> {
  const found = await call(viewer, 'beliefs.get', { belief_id: 'new', include_superseded: true })
  return (found as { history: readonly Belief[] }).history
}

describe('the past of a belief of another', () => {
  it.each([
    ['public, then federated', PUBLIC, IN_LAB],
    ['federated, then public', IN_LAB, PUBLIC],
    ['in one federation, then in another', IN_LAB, IN_CLUB],
    ['in one federation, then met first in another', IN_LAB, IN_CLUB_AND_LAB],
  ])('ends where its holder is shown otherwise: %s', async (_, before, after) => {
    await call('bob', 'beliefs.put', { id: 'old', content: 'Rain is likely', ...before })
    await call('bob', 'beliefs.supersede', { belief_id: 'old', id: 'new', content: 'Rain is sure', ...after })
    const shown = await past('ann')
    expect(shown.map(({ id }) => id)).toEqual(['new'])
    expect(shown[0]?.supersedes).toBeNull()
    const missing = { code: 'INVALID_QUERY', details: { reason: 'not_found' } }
    const old = { belief_id: 'old', include_superseded: true }
    await expect(call('ann', 'beliefs.get', old)).rejects.toMatchObject(missing)
    expect((await past('bob')).map(({ id }) => id)).toEqual(['new', 'old'])
  })

  it('goes on where it is shown alike', async () => {
    await call('bob', 'beliefs.put', { id: 'old', content: 'Rain is likely', ...IN_CLUB })
    await call('bob', 'beliefs.supersede', { belief_id: 'old', id: 'new', ...IN_CLUB_AND_LAB })
    const shown = await past('ann')
    expect(shown.map(({ id, supersedes }) => [id, supersedes])).toEqual([
      ['new', 'old'],
      ['old', null],
    ])
    expect(new Set(shown.map(({ holder_id }) => holder_id)).size).toBe(1)
  })

  it('has no number that counts what is hidden', async () => {
    await call('bob', 'beliefs.put', { id: 'draft', content: 'Rain' })
    await call('bob', 'beliefs.supersede', { belief_id: 'draft', id: 'second', content: 'Rain is' })
    await call('bob', 'beliefs.supersede', { belief_id: 'second', id: 'old', content: 'Rain is likely', ...PUBLIC })
    await call('bob', 'beliefs.supersede', { belief_id: 'old', id: 'new', content: 'Rain is sure' })
    const numbers = (shown: readonly Belief[]) => shown.map(({ id, version }) => [id, version])
    expect(numbers(await past('ann'))).toEqual([
      ['new', 2],
      ['old', 1],
    ])
    expect(numbers(await past('bob'))).toEqual([
      ['new', 4],
      ['old', 3],
      ['second', 2],
      ['draft', 1],
    ])
  })
})
