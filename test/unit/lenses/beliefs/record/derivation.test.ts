/** Depths, chains and references (BQ-007, BQ-053, BQ-089, BQ-090, BQ-096). */
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import { showCurrent } from '../../../../../src/lenses/beliefs/access/show.ts'
import type { Derivation } from '../../../../../src/lenses/beliefs/model.ts'
import { derivationChain, derivationDepths, versionOfId } from '../../../../../src/lenses/beliefs/record/read.ts'
import type { StoredVersion } from '../../../../../src/lenses/beliefs/record/version.ts'
import { putBeliefs } from '../../../../../src/lenses/beliefs/record/write.ts'
import { BELIEFS } from '../../../../../src/lenses/beliefs/tables.ts'
import { checkDraft } from '../schema/checks.ts'
import { makeWorld, type World } from './world.ts'

type Source = string | Readonly<Record<string, unknown>>

/** A public belief that rests on these, or as `more` says. */
function resting(id: string, sources: readonly Source[], more: object = {}): Readonly<Record<string, unknown>> {
  const listed = sources.map(source => (typeof source === 'string' ? { belief_id: source } : source))
  const derivation = { type: 'inference', sources: listed }
  return { id, content: `I am ${id}`, visibility: 'public', derivation, ...more }
}

/** It is ann's. */
function derived(world: World, id: string, sources: readonly Source[], more: object = {}): void {
  world.put('ann', resting(id, sources, more))
}

/** Of ann's, put at once, so that they may rest on each other. */
function derivedTogether(world: World, ...drafts: readonly Readonly<Record<string, unknown>>[]): void {
  world.write('ann', context =>
    atOnce(
      putBeliefs(
        context,
        drafts.map(draft => checkDraft(draft, context.now)),
      ),
    ),
  )
}

function depths(world: World, requester: string): Readonly<Record<string, number>> {
  return world.look(requester, view => {
    const made = derivationDepths(view)
    const rows = [...Array(view.columns.rows).keys()].filter(row => view.columns.arrays.entries[row] !== -1)
    return Object.fromEntries(rows.map(row => [view.columns.idOf(row), made(row)]))
  })
}

function chain(world: World, requester: string, id: string, maxDepth = 5): readonly string[] {
  return world.look(requester, view => {
    const seen = versionOfId(view, id, false)
    const { belief_id, depth, chain: links } = derivationChain(view, seen?.version as StoredVersion, maxDepth)
    expect(belief_id).toBe(id)
    expect(depth).toBe(Math.max(...links.map(link => link.depth)))
    return links.map(link => `${link.depth} ${link.belief_id}`)
  })
}

const NONE = Number.POSITIVE_INFINITY

describe('depth', () => {
  it('BQ-053: is the fewest steps to a root: the row’s example', () => {
    const world = makeWorld()
    derived(world, 'r', [])
    derived(world, 's', ['r'])
    derived(world, 'u', ['s'])
    derived(world, 'v', ['u', 'r'])
    expect(depths(world, 'bob')).toEqual({ r: 0, s: 1, u: 2, v: 1 })
  })

  it('BQ-053: only primary and supporting sources count; a pure circle has no root', () => {
    const world = makeWorld()
    derivedTogether(world, resting('a', ['b']), resting('b', ['a']))
    derived(world, 'own', ['own'])
    derived(world, 'c', [
      { belief_id: 'a', contribution_type: 'contradicting' },
      { external_ref: 'https://example.org' },
    ])
    derived(world, 'd', ['a', { belief_id: 'c', contribution_type: 'supporting' }])
    derived(world, 'e', ['none'])
    expect(depths(world, 'bob')).toEqual({ a: NONE, b: NONE, own: NONE, c: 0, d: 1, e: 0 })
  })

  it('BQ-053, BQ-096: a hidden parent changes nothing', () => {
    const world = makeWorld()
    derived(world, 'r', [], { visibility: 'private' })
    derived(world, 's', ['r'])
    derived(world, 't', ['s'])
    expect(depths(world, 'bob')).toEqual({ r: NONE, s: 0, t: 1 })
    expect(depths(world, 'ann')).toEqual({ r: 0, s: 1, t: 2 })
  })

  it('what rested on a version of the past rests on the one in its place, where all between may be seen', () => {
    const world = makeWorld()
    derived(world, 'r', [])
    derived(world, 's', ['r'])
    world.supersede('ann', 'r', { id: 'r2', content: 'new' })
    expect(depths(world, 'bob')).toEqual({ r2: 0, s: 1 })
    world.supersede('ann', 'r2', { id: 'r3', visibility: 'private' })
    expect(depths(world, 'bob')).toEqual({ r3: NONE, s: 0 })
    world.supersede('ann', 'r3', { id: 'r4', visibility: 'public' })
    expect(depths(world, 'bob')).toEqual({ r4: 0, s: 0 })
    expect(depths(world, 'ann')).toEqual({ r4: 0, s: 1 })
    world.remove('ann', 'r4')
    expect(depths(world, 'ann')).toEqual({ s: 0 })
  })

  it('an id means the writer’s own belief before another’s', () => {
    const world = makeWorld()
    derived(world, 'root', [])
    derived(world, 'r', ['root'])
    world.put('bob', { id: 'r', visibility: 'public' })
    derived(world, 's', ['r'])
    expect(depths(world, 'cat')['s']).toBe(2)
  })
})

it('a version kept before holders were names the writer’s own, for nobody else can store one in its place', () => {
  const world = makeWorld()
  derived(world, 'r', [])
  world.put('bob', { id: 'x', visibility: 'public' })
  derived(world, 's', ['r', 'x'])
  expect(chain(world, 'bob', 's')).toEqual(['0 s', '1 r', '1 x'])
  world.store.write(world.clock.now(), writer => {
    for (const row of writer.table(BELIEFS).scan()) {
      const { sources, ...rest } = JSON.parse(row['derivation'] as string) as Derivation
      const bare = sources.map(source => ({ ...source, holder: undefined }))
      writer.table(BELIEFS).put({ ...row, derivation: JSON.stringify({ ...rest, sources: bare }) })
      writer.announce(row['entry'] as number)
    }
  })
  expect(chain(world, 'bob', 's')).toEqual(['0 s', '1 r'])
  expect(depths(world, 'bob')).toEqual({ r: 0, x: 0, s: 1 })
  world.supersede('ann', 's', { id: 's2', derivation: { type: 'inference', sources: [{ belief_id: 'x' }] } })
  expect(chain(world, 'bob', 's2')).toEqual(['0 s2', '1 x'])
})

describe('chains', () => {
  it('BQ-089: have a preview of 200 characters, type, overall and time, and end at repetitions', () => {
    const world = makeWorld()
    const first = { content: `${'x'.repeat(199)}💡`, confidence: { source_reliability: null } }
    derivedTogether(
      world,
      resting('a', ['b', 'c'], first),
      resting('b', ['c', 'a']),
      resting('c', ['d', 'e']),
      resting('d', ['c']),
      resting('e', [{ belief_id: 'f', contribution_type: 'context' }]),
      resting('f', []),
    )
    expect(chain(world, 'bob', 'a')).toEqual(['0 a', '1 b', '1 c', '2 d', '2 e', '3 f'])
    expect(chain(world, 'bob', 'a', 1)).toEqual(['0 a', '1 b', '1 c'])
    expect(chain(world, 'bob', 'a', 0)).toEqual(['0 a'])
    const [link] = world.look('bob', view => {
      return derivationChain(view, versionOfId(view, 'a', false)?.version as StoredVersion, 5).chain
    })
    expect(link).toEqual({
      ...{
        belief_id: 'a',
        depth: 0,
        contribution_type: null,
        content_preview: 'x'.repeat(199),
        derivation_type: 'inference',
      },
      ...{ overall: expect.closeTo(0.50909, 4), created_at: '2026-01-15T12:00:01.000Z' },
    })
  })

  it('BQ-008, BQ-089: tell what each link is to the one that it was first reached from', () => {
    const world = makeWorld()
    derived(world, 'd', [])
    derived(world, 'c', [{ belief_id: 'd', contribution_type: 'context' }])
    derived(world, 'b', [{ belief_id: 'd', contribution_type: 'contradicting' }])
    derived(world, 'a', [{ belief_id: 'b', contribution_type: 'supporting' }, 'c', { belief_id: 'b' }])
    const reported = world.look('bob', view => {
      const { chain: links } = derivationChain(view, versionOfId(view, 'a', false)?.version as StoredVersion, 5)
      return links.map(link => [link.belief_id, link.contribution_type])
    })
    expect(reported).toEqual([
      ['a', null],
      ['b', 'supporting'],
      ['c', 'primary'],
      ['d', 'contradicting'],
    ])
  })

  it('BQ-090: are cut at what may not be seen, without a trace; so are lists of sources', () => {
    const world = makeWorld()
    derived(world, 'd', [])
    derived(world, 'b', ['d'], { visibility: 'private' })
    derived(world, 'c', [])
    derived(world, 'a', ['b', 'c', { belief_id: 'b', external_ref: 'https://example.org' }])
    expect(chain(world, 'bob', 'a')).toEqual(['0 a', '1 c'])
    expect(chain(world, 'ann', 'a')).toEqual(['0 a', '1 b', '1 c', '2 d'])
    const sourcesFor = (requester: string) =>
      world.look(requester, view => {
        const [shown] = showCurrent(view, [versionOfId(view, 'a', false)?.entry?.key as number])
        return shown?.belief.derivation.sources.map(({ belief_id, external_ref }) => [belief_id, external_ref])
      })
    const link = 'https://example.org'
    expect(sourcesFor('bob')).toEqual([
      ['c', null],
      [null, link],
    ])
    expect(sourcesFor('ann')).toEqual([
      ['b', null],
      ['c', null],
      ['b', link],
    ])
    world.supersede('ann', 'c', { id: 'c2', content: 'new' })
    expect(sourcesFor('bob')?.[0]).toEqual(['c', null])
    world.supersede('ann', 'c2', { id: 'c3', visibility: 'private' })
    expect(sourcesFor('bob')).toEqual([[null, link]])
  })
})
