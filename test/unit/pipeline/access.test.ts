import { describe, expect, it } from 'vitest'
import { type Audience, audience } from '../../../src/model/partition.ts'
import { AccessScopes, lookAt, stillVisible } from '../../../src/pipeline/access.ts'
import { openWorld } from './world.ts'

const VIEWERS = ['owner', 'ann', 'bob', 'cyd', 'dan', 'nobody'] as const

/** ann and bob are active in lab; cyd is suspended there; dan has left guild, where ann is active. */
function peopledWorld() {
  const world = openWorld()
  world.join('lab', 'ann')
  world.join('lab', 'bob')
  world.join('lab', 'cyd', 'suspended')
  world.join('guild', 'ann')
  world.join('guild', 'dan', 'left')
  return world
}

describe('who sees what', () => {
  const matrix: readonly { what: string; audience: Audience; seenBy: readonly string[] }[] = [
    { what: 'public', audience: audience('public', 'ann'), seenBy: VIEWERS },
    { what: 'private to ann', audience: audience('private', 'ann'), seenBy: ['owner', 'ann'] },
    { what: 'private to the owner', audience: audience('private'), seenBy: ['owner'] },
    { what: 'shared by ann with lab', audience: audience('shared', 'ann', ['lab']), seenBy: ['owner', 'ann', 'bob'] },
    { what: 'shared by ann with guild', audience: audience('shared', 'ann', ['guild']), seenBy: ['owner', 'ann'] },
    {
      what: 'shared by ann with guild and lab',
      audience: audience('shared', 'ann', ['guild', 'lab']),
      seenBy: ['owner', 'ann', 'bob'],
    },
    { what: 'shared by ann with nobody', audience: audience('shared', 'ann', []), seenBy: ['owner', 'ann'] },
    {
      what: 'shared by ann with an unknown one',
      audience: audience('shared', 'ann', ['moon']),
      seenBy: ['owner', 'ann'],
    },
    // The holder must be active too: what a suspended member shared is no longer read.
    { what: 'shared by suspended cyd', audience: audience('shared', 'cyd', ['lab']), seenBy: ['owner', 'cyd'] },
    { what: 'shared by dan, who left', audience: audience('shared', 'dan', ['guild']), seenBy: ['owner', 'dan'] },
  ]

  it.each(matrix)('$what', ({ audience: given, seenBy }) => {
    const world = peopledWorld()
    const key = world.put({ id: 'x', audience: given })
    const entry = world.parts.store.entry(key)
    const seeing = VIEWERS.filter(id => entry && stillVisible(entry, lookAt(world.parts.store, { id })))
    expect(seeing).toEqual(seenBy)
  })
})

describe('cached access scopes', () => {
  it('follow a change of membership at once', () => {
    const world = peopledWorld()
    world.put({ id: 'x', audience: audience('shared', 'ann', ['lab']) })
    const scopes = new AccessScopes(world.parts.store)
    const bob = { id: 'bob' }
    const before = scopes.look(bob)
    expect(before.partitions.length).toBe(1)
    expect(scopes.look(bob)).toBe(before)
    world.join('lab', 'bob', 'suspended')
    expect(scopes.look(bob).partitions).toEqual([])
    world.join('lab', 'bob')
    world.join('lab', 'ann', 'left')
    expect(scopes.look(bob).partitions).toEqual([])
  })
})
