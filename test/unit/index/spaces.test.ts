import { describe, expect, it } from 'vitest'
import { joinSpaces, quantileMap } from '../../../src/index/vectors/spaces.ts'
import { jointVector } from '../../../src/math/vector.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { openReferenceVectors } from '../../support/reference-vectors.ts'

describe('a map of quantiles', () => {
  it('maps a quantile to that of the same level, and what lies between in proportion', () => {
    const map = quantileMap([0, 0.2], [0.1, 0.5])
    expect([-1, 0, 0.1, 0.2, 0.6, 1].map(cosine => Number(map(cosine).toFixed(9)))).toEqual([
      -1, 0.1, 0.3, 0.5, 0.75, 1,
    ])
  })

  it('rises where two quantiles are equal', () => {
    const map = quantileMap([0, 0, 0.5], [0, 0.1, 0.2])
    expect(map(-0.001)).toBeLessThanOrEqual(map(0))
    expect(map(0)).toBeLessThanOrEqual(map(0.001))
  })
})

describe('two joined spaces', () => {
  const unit = (...of: number[]) => Float32Array.from(of)

  function open() {
    const store = openMemoryStore()
    // Entry 1 is the main model's; entry 2 is foreign; entry 3 is foreign and has no vector of the second model yet.
    const main = [unit(1, 0), unit(0.6, 0.8), unit(0, 1)]
    const second = [unit(0, 0, 1), unit(1, 0, 0), null]
    const keys = store.write(0, writer =>
      main.map((vector, at) => {
        const draft = draftOf({ id: `e${at}` })
        const { key } = writer.put(draft, wholeChunk(draft))
        const [chunk = 0] = writer.chunksOf(key).map(one => one.key)
        writer.putVectors('main', [{ chunk, vector }])
        const other = second[at]
        if (other) writer.putVectors('second', [{ chunk, vector: other }])
        return key
      }),
    )
    const indexes = { main: openReferenceVectors('main', 2), second: openReferenceVectors('second', 3) }
    const foreign = new Set(keys.slice(1))
    const joined = joinSpaces({
      ...indexes,
      foreign: entries => new Set(entries.filter(entry => foreign.has(entry))),
      toMain: cosine => cosine / 2,
    })
    for (const index of Object.values(indexes)) index.refresh(store)
    return { keys, joined, scope: { partitions: store.partitions().map(({ id }) => id) } }
  }

  it('score an entry by the model of its language alone, also where the other index brought it', () => {
    const { keys, joined, scope } = open()
    const vector = jointVector(unit(1, 0), unit(1, 0, 0))
    const found = joined.search({ ...scope, vector, k: 3 })
    const scores = new Map(found.map(({ entry, score }) => [entry, Number(score.toFixed(6))]))
    expect(keys.map(key => scores.get(key))).toEqual([1, 0.5, 0])
    expect(joined.score(vector, keys, scope).map(({ score }) => Number(score.toFixed(6)))).toEqual([1, 0.5, 0])
    expect(
      keys.flatMap(key => joined.scoreChunks(vector, key, scope)).map(({ score }) => Number(score.toFixed(6))),
    ).toEqual([1, 0.5, 0])
    expect(keys.map(key => joined.has(key, scope))).toEqual([true, true, true])
  })

  it('search the main index alone by a vector of the main model', () => {
    const { keys, joined, scope } = open()
    const found = joined.search({ ...scope, vector: unit(1, 0), k: 3 })
    expect(found.map(({ entry }) => entry)).toEqual(keys)
    expect(joined.count(scope)).toBe(3)
  })

  it('give no more than was asked for, and nothing below the least score', () => {
    const { joined, scope } = open()
    const vector = jointVector(unit(1, 0), unit(1, 0, 0))
    expect(joined.search({ ...scope, vector, k: 1 })).toHaveLength(1)
    expect(joined.search({ ...scope, vector, k: 3, least: 0.4 })).toHaveLength(2)
  })
})
