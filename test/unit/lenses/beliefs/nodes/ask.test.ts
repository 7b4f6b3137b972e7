import { describe, expect, it } from 'vitest'
import { joinAcross, openNodes } from '../../../../support/nodes.ts'

const EVERYWHERE = { scope: { local: true, federated: true, network: true } }

async function smallWorld() {
  const world = await openNodes(['home', 'north', 'south'])
  const [home, north, south] = ['home', 'north', 'south'].map(world.node)
  if (!home || !north || !south) throw new Error('no nodes')
  await home.call('agents.create', 'owner', { id: 'ana' })
  for (const id of ['bo', 'cy']) await north.call('agents.create', 'owner', { id })
  await south.call('agents.create', 'owner', { id: 'dee' })
  await joinAcross(world, { federation: 'birds', home: 'home', agent: 'ana', at: 'north' })
  await north.call('federations.set_member', 'owner', { federation: 'birds', agent: 'bo' })
  await home.call('peers.add', 'owner', { id: 'south', address: south.address, network: true })
  await home.call('beliefs.put', 'ana', { content: 'swifts sleep in the air', domains: ['birds'] })
  await north.call('beliefs.put', 'bo', {
    content: 'swifts nest under roofs',
    visibility: 'federated',
    federation_ids: ['birds'],
  })
  await north.call('beliefs.put', 'cy', { content: 'swifts are a secret of cy', visibility: 'private' })
  await south.call('beliefs.put', 'dee', { content: 'swifts fly to the south in august', visibility: 'public' })
  return { world, home, north, south }
}

describe('a question to several nodes', () => {
  it('BQ-116, BQ-122, BQ-123: is answered by all that the scope enables, each as far as the requester may see', async () => {
    const { world, home } = await smallWorld()
    await using _ = world
    const answer = await home.call('beliefs.query', 'ana', {
      semantic: 'swifts',
      options: EVERYWHERE,
    })
    const beliefs = answer['beliefs'] as {
      belief: { content: string; holder_id: string }
      source: object
      node?: string
    }[]
    expect(beliefs.map(({ belief, source, node }) => [belief.content, source, node ?? null]).sort()).toEqual(
      [
        ['swifts fly to the south in august', { kind: 'network', id: 'south' }, 'south'],
        ['swifts nest under roofs', { kind: 'federated', id: 'birds' }, 'north'],
        ['swifts sleep in the air', { kind: 'local', id: null }, null],
      ].sort(),
    )
    expect(answer['errors']).toEqual([])
    expect(answer['partial']).toBe(false)
  })
})
