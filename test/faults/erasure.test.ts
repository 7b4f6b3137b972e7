/** Deleting means deleting: of what was deleted or replaced no byte is left in the home. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { seededUniform } from '../../src/testing/seeded.ts'
import { type TempFolder, tempFolder } from '../../src/testing/temp-folder.ts'
import { openToyEmbedder } from '../../src/testing/toy-embedder.ts'
import { openTestEngine } from '../support/engines.ts'
import { ErasureStory } from '../support/erasure-story.ts'
import { WAYS, type Way } from '../support/erasure-ways.ts'

const open = (home: string, background = false): Promise<Engine> =>
  openTestEngine({ home, create: true, background, embedder: openToyEmbedder() })

/** With enough in it for its indexes to be worth snapshots. */
let filled: TempFolder
beforeAll(async () => {
  filled = tempFolder()
  await using engine = await open(join(filled.path, '.querent'))
  const entries = Array.from({ length: 600 }, (_, at) => ({ id: `fill-${at}`, content: `filling number ${at}` }))
  await engine.put({ entries, wait: true })
  return () => filled[Symbol.dispose]()
})

async function begin(seed: number, background = false): Promise<ErasureStory> {
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
  it.each(Object.entries(WAYS))('%s', { timeout: 30_000 }, async (_, way: Way) => {
    const story = await begin(7)
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
