/** Hashtags that are near in meaning are near in L*a*b*: the starter vocabulary, and what is assigned to it. */
import { describe, expect, it } from 'vitest'
import { starterVocabulary } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { STACK, ZONE_BOUNDS } from '../../../../../src/lenses/chroma/colour/stack.ts'
import type { Anchor, Binding, Zone } from '../../../../../src/lenses/chroma/model.ts'
import { type OpenChroma, openChroma } from '../../../../../src/openings/chroma.ts'
import { callOperation } from '../../../../support/beliefs-engine.ts'
import { invalid } from '../../../../support/chroma-answers.ts'
import { openToyEmbedder } from '../../../../support/toy-embedder.ts'
import pairs from './related-pairs.json' with { type: 'json' }

type Place = Pick<Anchor, 'L' | 'a' | 'b'>
const distance = (one: Place, other: Place) => Math.hypot(one.L - other.L, one.a - other.a, one.b - other.b)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('the starter vocabulary', () => {
  const words = starterVocabulary().map(({ hashtag, zone, anchorId }) => ({
    hashtag,
    zone,
    place: STACK.anchor(anchorId) as Anchor,
  }))

  it('CQ-150: has 40 related pairs at half the distance of other pairs of their zones, or nearer', () => {
    const among = new Map<Zone, number>()
    for (const zone of ['Core', 'Mid', 'Outer'] as const) {
      const own = words.filter(word => word.zone === zone).map(({ place }) => place)
      among.set(zone, mean(own.flatMap((one, at) => own.slice(at + 1).map(other => distance(one, other)))))
    }
    const related = pairs.map(([one, other]) => {
      const [first, second] = [one, other].map(word => words.find(({ hashtag }) => hashtag === `#${word}`))
      if (first === undefined || first.zone !== second?.zone) throw new Error(`${one} and ${other} are of two zones`)
      return { zone: first.zone, apart: distance(first.place, second.place) }
    })
    expect(related).toHaveLength(40)
    const others = mean(related.map(({ zone }) => among.get(zone) as number))
    expect(mean(related.map(({ apart }) => apart))).toBeLessThanOrEqual(others / 2)
  })

  it('CQ-150: has each hashtag on an anchor of its own in its zone', () => {
    expect(new Set(words.map(({ place }) => place.id)).size).toBe(words.length)
    expect(words.filter(({ zone, place }) => place.zone !== zone)).toEqual([])
  })
})

const open = (embedder: 'none' | ReturnType<typeof openToyEmbedder> = openToyEmbedder()) =>
  openChroma({ store: 'memory', background: false, embedder })

/** The anchor of the zone nearest to a place, of those that are free. */
function nearest(chroma: OpenChroma, zone: Zone, place: Place): number {
  const { first, last } = ZONE_BOUNDS[zone]
  const taken = new Set(chroma.listHashtags().map(({ anchor_id }) => anchor_id))
  const free = STACK.anchors.slice(first - 1, last).filter(({ id }) => !taken.has(id))
  return free.reduce((best, one) => (distance(one, place) < distance(best, place) ? one : best)).id
}

describe('a hashtag that is assigned', () => {
  it('CQ-026, CQ-150: with a zone alone takes the free anchor nearest to what is near in meaning', async () => {
    await using chroma = await open()
    const car = await chroma.assignHashtag('car', { anchorId: 5000 })
    await chroma.assignHashtag('bread', { anchorId: 3000 })
    for (const [hashtag, zone] of [
      ['vehicle', 'Mid'],
      ['automobile', 'Core'],
    ] as const) {
      const wanted = nearest(chroma, zone, car)
      expect(await chroma.assignHashtag(hashtag, { zone })).toMatchObject({ anchor_id: wanted, zone })
    }
  })

  it('CQ-150: is placed by the mean of its neighbours, and in a list by those before it', async () => {
    await using chroma = await open()
    const [one, other] = await chroma.assignHashtags([
      { hashtag: 'fox', anchorId: 2000 },
      { hashtag: 'vixen', anchorId: 2500 },
    ])
    const between = { L: 0, a: 0, b: 0 }
    for (const axis of ['L', 'a', 'b'] as const) between[axis] = ((one as Binding)[axis] + (other as Binding)[axis]) / 2
    const wanted = nearest(chroma, 'Mid', between)
    const made = await chroma.assignHashtags([
      { hashtag: 'fox_vixen', zone: 'Mid' },
      { hashtag: 'quick', anchorId: 4000 },
      { hashtag: 'swift', zone: 'mid' },
    ])
    expect(made[0]).toMatchObject({ anchor_id: wanted })
    const quick = made[1] as Binding
    expect(distance(made[2] as Binding, quick)).toBeLessThan(20)
  })

  it('CQ-150: that is moved to a zone goes near what is near in meaning there, too', async () => {
    await using chroma = await open()
    const car = await chroma.assignHashtag('car', { anchorId: 5000 })
    await chroma.assignHashtag('vehicle', { anchorId: 9000 })
    const wanted = nearest(chroma, 'Mid', car)
    expect(await chroma.migrateHashtag('vehicle', { zone: 'Mid' })).toMatchObject({ to_anchor_id: wanted })
  })

  it('CQ-026: takes the lowest free anchor where there is no embedder, or nothing to be near', async () => {
    for (const embedder of ['none', openToyEmbedder()] as const) {
      await using chroma = await open(embedder)
      const first = { hashtag: '#python', anchor_id: 1, zone: 'Core', L: 54, a: -4, b: 1, mass: 0.2 }
      expect(await chroma.assignHashtag('Python', { zone: 'core' })).toEqual(first)
    }
    await using chroma = await open('none')
    await chroma.assignHashtag('car', { anchorId: 5000 })
    expect(await chroma.assignHashtag('vehicle', { zone: 'Mid' })).toMatchObject({ anchor_id: 1001 })
  })

  it('CQ-150: near another takes the free anchor nearest to it, of its zone or of the one named', async () => {
    await using chroma = await open('none')
    const docker = await chroma.assignHashtag('docker', { anchorId: 4321 })
    const wanted = nearest(chroma, 'Mid', docker)
    const podman = await chroma.assignHashtag('podman', { near: '#Docker' })
    expect(podman).toMatchObject({ anchor_id: wanted, zone: 'Mid' })
    const outer = nearest(chroma, 'Outer', docker)
    expect(await chroma.assignHashtag('rootless', { near: 'docker', zone: 'outer' })).toMatchObject({
      anchor_id: outer,
    })
    // Again, it stays where it is; elsewhere is a migration.
    expect(await chroma.assignHashtag('podman', { near: 'docker' })).toEqual(podman)
    const refused = { code: 'hashtag_assigned' }
    await expect(chroma.assignHashtag('podman', { near: 'docker', zone: 'Core' })).rejects.toMatchObject(refused)
    const unknown = { code: 'unknown_hashtag', details: { hashtags: ['#nobody'] } }
    await expect(chroma.assignHashtag('x', { near: 'nobody' })).rejects.toMatchObject(unknown)
    const both = { near: 'docker', anchorId: 3 }
    await expect(chroma.assignHashtag('x', both)).rejects.toMatchObject(invalid('zone'))
    expect(await chroma.migrateHashtag('rootless', { near: 'docker' })).toMatchObject({ from_anchor_id: outer })
    expect(chroma.resolveHashtag('rootless')?.zone).toBe('Mid')
    const there = chroma.resolveHashtag('rootless')?.anchor_id
    expect(await chroma.migrateHashtag('rootless', { near: 'docker' })).toMatchObject({ to_anchor_id: there })
  })
})

describe('a vocabulary', () => {
  it.each(['lines', 'stack'] as const)('CQ-024, CQ-150: is carried to an empty store, as %s', async as => {
    await using one = await open('none')
    await one.assignStarter()
    await one.assignHashtags(
      [
        { hashtag: 'c#', near: '#python' },
        { hashtag: 'a,b"', zone: 'Mid' },
      ].filter(({ hashtag }) => one.resolveHashtag(hashtag) === null),
    )
    const text = one.exportVocabulary(as)
    await using other = await open('none')
    expect(await other.importVocabulary(text)).toHaveLength(one.listHashtags().length)
    expect(other.listHashtags()).toEqual(one.listHashtags())
    const call = (engine: OpenChroma['engine'], name: string, input: object) =>
      callOperation(engine, name, 'owner', input)
    await using third = await open('none')
    const exported = (await call(one.engine, 'chroma.hashtags', { as })) as { text: string; hashtags: unknown[] }
    expect(exported.hashtags).toEqual([])
    await call(third.engine, 'chroma.assign', { text: exported.text })
    expect(third.listHashtags()).toEqual(one.listHashtags())
    await call(third.engine, 'chroma.assign', { hashtag: 'podman', near: '#docker' })
    expect(third.resolveHashtag('podman')?.zone).toBe('Mid')
  })
})
