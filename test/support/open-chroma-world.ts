/** A small chroma in memory: a settable clock, hashtags on known anchors, nodes in one line. */

import { it as base } from 'vitest'
import type { NewNode } from '../../src/lenses/chroma/nodes/nodes.ts'
import { type OpenChroma, type OpenChromaOptions, openChroma } from '../../src/openings/chroma.ts'

export const NOW = 1_700_000_000

export interface World extends AsyncDisposable {
  readonly chroma: OpenChroma
  /** Unix seconds; set to move time. */
  now: number
  /** How often the clock was read. */
  readings: number
  node(given?: Partial<NewNode>): Promise<string>
}

/** Valid by itself; the seed's V1 with its anchors. */
export const TAGS: readonly string[] = ['#c0', '#m0', '#m1', '#m2', '#m3', '#m4', '#m5', '#o0']
/** Another place: one Mid tag is another. */
export const NEAR: readonly string[] = ['#c0', '#m0', '#m1', '#m2', '#m3', '#m4', '#m6', '#o0']
export const FAR: readonly string[] = ['#c1', '#m6', '#m7', '#m8', '#m9', '#m10', '#m11', '#o1']

const ANCHORS: Readonly<Record<string, readonly number[]>> = {
  c: [1, 500, 1000],
  m: [1001, 2001, 3001, 4001, 5001, 6001, 1500, 2500, 3500, 4500, 5500, 6500],
  o: [7501, 9000, 8001],
}

export async function openWorld(options: OpenChromaOptions = {}): Promise<World> {
  const world = { now: NOW, readings: 0 }
  const now = () => {
    world.readings++
    return world.now
  }
  const chroma = await openChroma({ store: 'memory', background: false, sleep: async () => {}, now, ...options })
  const assignments = Object.entries(ANCHORS).flatMap(([letter, ids]) =>
    ids.map((anchorId, at) => ({ hashtag: `${letter}${at}`, anchorId })),
  )
  await chroma.assignHashtags(assignments)
  world.readings = 0
  return Object.assign(world, {
    chroma,
    node: (given: Partial<NewNode> = {}) =>
      chroma.store({ hashtags: TAGS, label: 'A node', content: 'Text', ...given }),
    [Symbol.asyncDispose]: () => chroma.close(),
  })
}

/** Tests that take `world` have one of their own. */
export const it = base.extend<{ world: World }>({
  // biome-ignore lint/correctness/noEmptyPattern: the pattern says which other fixtures it needs.
  world: async ({}, use) => {
    await using world = await openWorld()
    await use(world)
  },
})
