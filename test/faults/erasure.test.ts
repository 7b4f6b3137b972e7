/** Deleting means deleting: of what was deleted or replaced no byte is left in the home. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it, type TestContext, vi } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { openTestEngine } from '../support/engines.ts'
import { ErasureStory } from '../support/erasure-story.ts'
import { WAYS } from '../support/erasure-ways.ts'
import { seededUniform } from '../support/seeded.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { openToyEmbedder } from '../support/toy-embedder.ts'

/** Goes on from engine to engine: one that began again would give ids that are there. */
const chance = seededUniform(1)
const random = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, () => Math.floor(chance() * 256))

const open = (home: string, background = false): Promise<Engine> =>
  openTestEngine({ home, create: true, background, random, embedder: openToyEmbedder() })

/** With enough in it for its indexes to be worth snapshots. */
let filled: TempFolder
beforeAll(async () => {
  filled = tempFolder()
  await using engine = await open(join(filled.path, '.querent'))
  const entries = Array.from({ length: 600 }, (_, at) => ({ id: `fill-${at}`, content: `filling number ${at}` }))
  await engine.put({ entries, wait: true })
  return () => filled[Symbol.dispose]()
})

async function begin({ onTestFinished }: TestContext, seed: number, background = false): Promise<ErasureStory> {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const home = join(folder.path, '.querent')
  cpSync(join(filled.path, '.querent'), home, { recursive: true })
  return new ErasureStory(seededUniform(seed), folder.path, home, await open(home, background))
}

async function reopen(story: ErasureStory): Promise<void> {
  await story.engine.close()
  story.engine = await open(story.home)
  // Loaded and brought forward, as by a question.
  await story.engine.query({ text: 'filling' })
}

describe('what was deleted or replaced is nowhere when the engine was closed', () => {
  it.for(Object.entries(WAYS))('%s', async ([, way], test) => {
    const story = await begin(test, 7)
    const one = await story.make(way)
    await reopen(story)
    expect(story.unseen()).toEqual([])
    await story.change(one)
    await reopen(story)
    expect([story.unseen(), story.leftovers()]).toEqual([[], []])
    await story.remove(one)
    await story.engine.close()
    expect(story.leftovers()).toEqual([])
    expect(story.gone).toBeGreaterThan(0)
  })
})

/** What a process that lives on promises. */
const SOON = { timeout: 300_000, interval: 500 }

// They wait for seconds, so they wait together.
describe.concurrent('in a process that lives on', () => {
  it('what was deleted is gone after some seconds, and what a row said before after some more', async test => {
    const story = await begin(test, 8, true)
    for (const way of [WAYS.changing, WAYS.concept, WAYS.trust]) await story.change(await story.make(way))
    await vi.waitFor(() => expect(story.leftovers()).toEqual([]), SOON)
    await story.removeAll()
    await vi.waitFor(() => expect(story.store.upkeep?.forgotten()).toMatchObject({ isErased: true }), SOON)
    await vi.waitFor(() => expect(story.leftovers()).toEqual([]), SOON)
    await story.engine.close()
    expect(story.leftovers()).toEqual([])
  })

  it('a reader in another process delays it, and is not forgotten', async test => {
    const story = await begin(test, 9, true)
    const one = await story.make(WAYS.changing)
    const reader = new DatabaseSync(join(story.home, 'store.db'))
    reader.exec('begin; select count(*) from entries')
    await story.remove(one)
    await sleep(3_000)
    expect(story.leftovers()).not.toEqual([])
    expect(story.store.upkeep?.forgotten()).toMatchObject({ isErased: false })
    reader.exec('commit')
    await vi.waitFor(() => expect(story.leftovers()).toEqual([]), SOON)
    reader.close()
    await story.engine.close()
  })
})

it.for([false, true])(
  'a kill before the log is folded back delays it to the next process (background: %s)',
  async (background, test) => {
    const story = await begin(test, 10)
    const [first, second] = [await story.make(WAYS.changing), await story.make(WAYS.node)]
    await story.change(first)
    await story.remove(second)
    const copy = story.copyAsIfKilled()
    await story.engine.close()
    expect(copy.leftovers()).not.toEqual([])
    copy.engine = await open(copy.home, background)
    if (background) await vi.waitFor(() => expect(copy.leftovers()).toEqual([]), SOON)
    await copy.engine.close()
    expect(copy.leftovers()).toEqual([])
  },
)

const LONG = process.env['QUERENT_LONG'] === '1'
const HOMES = LONG ? 20 : 1
const HISTORIES = LONG ? 50 : 4

it(
  `after ${HISTORIES} random histories in one home, closed or killed (QUERENT_LONG=1: 50 in each of 20)`,
  async test => {
    for (let home = 0; home < HOMES; home++) {
      const seed = LONG ? Date.now() & 0xffff : 11
      await liveOn(await begin(test, seed), seed)
      if (LONG) console.info(`home ${home + 1}: ${HISTORIES} histories of seed ${seed}`)
    }
  },
  LONG ? 7_200_000 : 600_000,
)

async function liveOn(story: ErasureStory, seed: number): Promise<void> {
  const uniform = seededUniform(seed)
  for (let history = 0; history < HISTORIES; history++) {
    story.begin()
    for (let acts = 3 + Math.floor(uniform() * 10); acts > 0; acts--) await story.act()
    if (uniform() < 0.3) await killedLeavesNothing(story)
    await reopen(story)
    expect([story.unseen(), story.leftovers()], `history ${history} of seed ${seed}`).toEqual([[], []])
  }
  await story.engine.close()
}

async function killedLeavesNothing(story: ErasureStory): Promise<void> {
  const copy = story.copyAsIfKilled()
  copy.engine = await open(copy.home)
  await copy.engine.close()
  expect(copy.leftovers()).toEqual([])
  rmSync(copy.home, { recursive: true })
}
