import { describe, expect, it } from 'vitest'
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import { toUnit } from '../../../src/math/vector.ts'
import { type ChunkKey, chunkText } from '../../../src/model/entry.ts'
import { recompute } from '../../../src/model/explanation.ts'
import type { QueryInput } from '../../../src/model/query-input.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { type AskWorld, WORLD_NOW } from '../../support/ask-world.ts'
import { draftOf, lineChunks } from '../../support/entries.ts'
import { seededNormal, seededUniform } from '../../support/seeded.ts'
import { TOY_MODEL } from '../../support/toy-embedder.ts'
import { openWorld } from './world.ts'

const KEY = modelKey(TOY_MODEL)
const WORDS = 'amber birch cedar delta ember fjord grove heron islet jetty kelp larch'.split(' ')

/** Nothing about a vector follows from the words: the hardest case for ranking without it. */
const anyVectors: Embedder = {
  model: TOY_MODEL,
  embed: texts => Promise.resolve(texts.map(text => anyVector(text))),
  close: () => Promise.resolve(),
}

function anyVector(text: string): Float32Array {
  let seed = 2166136261
  for (const unit of text) seed = Math.imul(seed ^ (unit.codePointAt(0) as number), 16777619)
  const normal = seededNormal(seed >>> 0)
  // Eight dimensions are enough for cosines of all sizes.
  return toUnit(Float64Array.from({ length: TOY_MODEL.dimensions }, (_, at) => (at < 8 ? normal() : 0))) as Float32Array
}

interface Made {
  readonly id: string
  readonly content: string
}

/** Entries of one to four passages. */
function entriesOf(seed: number, count: number): readonly Made[] {
  const uniform = seededUniform(seed)
  const pick = (most: number) => Math.floor(uniform() * most)
  const line = () => Array.from({ length: 2 + pick(6) }, () => WORDS[pick(WORDS.length)]).join(' ')
  return Array.from({ length: count }, (_, at) => ({
    id: `e${String(at).padStart(2, '0')}`,
    content: Array.from({ length: 1 + pick(4) }, line).join('\n'),
  }))
}

async function worldOf(entries: readonly Made[], isEmbedded: (chunk: number) => boolean): Promise<AskWorld> {
  const world = openWorld(anyVectors)
  const { store } = world.parts
  for (const [at, made] of entries.entries()) {
    const key = world.put(made, lineChunks(draftOf(made)))
    const access = { count: at, strength: at, lastAccessed: WORLD_NOW }
    if (at % 3 === 0) store.write(WORLD_NOW, writer => writer.setAccess(LOCAL_OWNER, key, access))
  }
  const chunks = store.chunksWithoutVector(KEY, Number.MAX_SAFE_INTEGER).filter((_, at) => isEmbedded(at))
  const vectors = chunks.map(chunk => {
    const entry = store.entry(chunk.entry)
    const text = entry === undefined ? '' : chunkText(entry, chunk)
    return { chunk: chunk.key as ChunkKey, vector: anyVector(text) }
  })
  store.write(WORLD_NOW, writer => writer.putVectors(KEY, vectors))
  return world
}

async function idsOf(world: AskWorld, input: QueryInput): Promise<readonly string[]> {
  const { page } = await world.ask({ any: true, touch: false, limit: 20, ...input })
  return page.items.map(({ id, passage }) => (passage === undefined ? id : `${id} ${passage}`))
}

/** By what `idsOf` calls it. */
function targetOf(name: string): { readonly id: string; readonly passage?: number } {
  const [id = '', passage] = name.split(' ')
  return passage === undefined ? { id } : { id, passage: Number(passage) }
}

describe('while a store is being embedded', () => {
  it.each(['entry', 'passage'] as const)(
    'a result among the first three by words and with all embedded stays there, whatever has vectors: group %s (QE-007)',
    async group => {
      let watched = 0
      for (let seed = 1; seed <= 3; seed++) {
        const entries = entriesOf(seed, 30)
        const uniform = seededUniform(seed * 7919)
        const questions = Array.from({ length: 5 }, () =>
          Array.from({ length: 1 + Math.floor(uniform() * 3) }, () => WORDS[Math.floor(uniform() * WORDS.length)]).join(
            ' ',
          ),
        )
        const whole = await worldOf(entries, () => true)
        for (const share of [0, 0.1, 0.5, 0.9]) {
          const partly = await worldOf(entries, () => uniform() < share)
          for (const text of questions) {
            const byWords = (await idsOf(whole, { text, group, mode: 'words' })).slice(0, 3)
            const first = (await idsOf(whole, { text, group })).slice(0, 3)
            const both = byWords.filter(id => first.includes(id))
            for (const approximate of [true, false]) {
              for (const limit of [3, 20]) {
                const now = (await idsOf(partly, { text, group, approximate, limit })).slice(0, 3)
                expect(now, `seed ${seed}, ${share}, "${text}"`).toEqual(expect.arrayContaining(both))
                watched += both.length
              }
            }
          }
        }
      }
      expect(watched).toBeGreaterThan(100)
    },
  )

  it('what has no vector is ranked among the others by its words, not before or behind all of them (QE-007)', async () => {
    const world = openWorld()
    for (const id of ['x', 'y', 'z']) world.put({ id, content: `tulip ${id}` })
    world.put({ id: 'meaning', content: 'vixen' })
    world.put({ id: 'both', content: 'vixen fox' })
    await world.embedAll()
    world.put({ id: 'words', content: 'fox' })
    world.put({ id: 'some', content: 'fox amber' })
    world.put({ id: 'few', content: `fox ${WORDS.join(' ')}` })
    const { page } = await world.ask({ text: 'fox', any: true, explain: true })
    expect(page.items.map(({ id }) => id).slice(0, 5)).toEqual(['both', 'words', 'some', 'meaning', 'few'])
    expect(page.verdict).not.toBe('nothing_relevant')
    expect(JSON.stringify(page.items[1]?.explanation)).toContain(
      'no vector yet: estimated from passages with the same share of the words',
    )
  })

  it('scores, components and explanations agree, also of what words keep among the first three', async () => {
    let lifted = 0
    for (let seed = 1; seed <= 4; seed++) {
      const uniform = seededUniform(seed)
      const world = await worldOf(entriesOf(seed, 30), () => uniform() < 0.5)
      for (const text of ['amber birch', 'cedar', 'heron islet jetty']) {
        const { page } = await world.ask({ text, any: true, explain: true, limit: 20 })
        const scores = page.items.map(({ score }) => score)
        expect(scores).toEqual([...scores].sort((a, b) => b - a))
        for (const { score, explanation, components } of page.items) {
          if (explanation === undefined || components === undefined) throw new Error('there is no explanation')
          expect(recompute(explanation)).toBeCloseTo(score, 12)
          expect(Object.values(components).reduce((a, b) => a + b, 0)).toBeCloseTo(score, 12)
          if (components['partly_embedded'] !== undefined) lifted++
        }
      }
    }
    expect(lifted).toBeGreaterThan(0)
  })

  it('a short page is the beginning of a long one, with the same scores', async () => {
    for (const [seed, count] of [30, 40, 50, 150, 200].entries()) {
      const uniform = seededUniform(seed)
      const world = await worldOf(entriesOf(seed, count), () => uniform() < 0.5)
      for (const text of ['amber birch', 'cedar', 'heron islet jetty', 'kelp']) {
        const shownOf = async (limit: number) => {
          const { page } = await world.ask({ text, any: true, touch: false, limit })
          return page.items.map(({ id, score }) => [id, score])
        }
        const long = await shownOf(80)
        for (const limit of [1, 2, 3, 5, 10]) expect(await shownOf(limit)).toEqual(long.slice(0, limit))
      }
    }
  })

  it.each(['entry', 'passage'] as const)(
    'a comparison of two results does not promise a change of places that does not come: group %s',
    async group => {
      for (let seed = 1; seed <= 4; seed++) {
        const uniform = seededUniform(seed)
        const world = await worldOf(entriesOf(seed, 30), () => uniform() < 0.5)
        const text = 'amber birch'
        const ids = await idsOf(world, { text, group })
        const [id, over] = [ids[2] as string, ids[3] as string]
        const { over: compared } = await world.explain(
          { text, group, any: true },
          { ...targetOf(id), over: targetOf(over).id, over_passage: targetOf(over).passage },
        )
        const swap = compared?.swap
        if (swap === null || swap === undefined) continue
        const changed = await idsOf(world, { text, group, meaning_weight: swap.to })
        expect(changed.indexOf(over)).toBeLessThan(changed.indexOf(id))
      }
    },
  )
})
