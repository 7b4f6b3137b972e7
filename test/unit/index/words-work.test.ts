/** What the word index writes, reads and holds. */
import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../src/base/bitset.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import type { EntryKey } from '../../../src/model/entry.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { AUDIENCE_NAMES } from '../../support/index-world.ts'
import { textOf, WordWorld } from '../../support/word-world.ts'
import { answers, forest } from './forest.ts'

describe('what a snapshot may be', () => {
  const world = new WordWorld(openMemoryStore())
  world.apply(forest(50))
  const index = openWordIndex()
  index.refresh(world.store)
  const image = Buffer.concat(index.serialise())

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.from('not an image at all, whatever it says')],
    ['cut short', image.subarray(0, image.length - 8)],
    ['too long', Buffer.concat([image, Buffer.alloc(8)])],
    ['of another format', Buffer.from(image.toString('latin1').replace('"format":1', '"format":7'), 'latin1')],
    ['of other text rules', Buffer.from(image.toString('latin1').replace(/"rules":\d/, '"rules":9'), 'latin1')],
    [
      'a header of other shape',
      Buffer.from(image.toString('latin1').replace('"segments":[[', '"segments":[{'), 'latin1'),
    ],
  ])('refuses %s, and stays as it was', (_, bytes) => {
    const other = openWordIndex()
    other.refresh(world.store)
    const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
    expect(() => other.restore(bytes, 1)).toThrow(refusal)
    expect(answers(other, world)).toEqual(answers(index, world))
    expect(other.position).toBe(index.position)
  })

  it('is empty for an empty index', () => {
    const empty = openWordIndex()
    const other = openWordIndex()
    other.restore(Buffer.concat(empty.serialise()), 0)
    expect(other.count({ partitions: [1] })).toBe(0)
  })

  it('holds no word of a deleted entry', () => {
    const here = new WordWorld(openMemoryStore())
    here.apply([textOf('a', 'unmentionable'), textOf('b', 'other')])
    const words = openWordIndex()
    words.refresh(here.store)
    here.apply([textOf('a', '', { do: 'delete' })])
    words.refresh(here.store)
    const saved = Buffer.concat(words.serialise()).toString('latin1')
    expect(saved).toContain('other')
    expect(saved).not.toContain('unmention')
  })
})

describe('the number of chunks of a set of entries', () => {
  it('follows writes, deletions, another set of partitions, changes of the set, and a rebuild', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply([textOf('a', 'one'), textOf('b', 'two'), textOf('c', 'three')])
    const index = openWordIndex()
    index.refresh(world.store)
    const keys = world.store.read(reader => reader.scanEntries(0, 10))
    const allow = Bitset.of(keys.slice(0, 2))
    const partitions = world.partitionsOf(...AUDIENCE_NAMES)
    const count = () => index.count({ partitions, allow })
    expect([count(), count()]).toEqual([2, 2])
    expect(index.count({ partitions: [], allow })).toBe(0)
    allow.add(keys[2] as EntryKey)
    expect(count()).toBe(3)
    world.apply([textOf('a', '', { do: 'delete' })])
    index.refresh(world.store)
    expect(count()).toBe(2)
    world.store.read(reader => index.rebuild(reader))
    expect(count()).toBe(2)
    const other = openWordIndex()
    const bytes = Buffer.concat(other.serialise())
    index.restore(bytes, 0)
    expect(count()).toBe(0)
  })
})

describe('work', () => {
  it('reads no entry again because it got vectors', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply([textOf('a', 'one two')])
    const index = openWordIndex()
    index.refresh(world.store)
    const vectors = world.store
      .chunksOf(world.key('a'))
      .map(chunk => ({ chunk: chunk.key, vector: Float32Array.of(1) }))
    world.store.write(5000, writer => writer.putVectors('any@1', vectors))
    const refused = () => {
      throw new Error('read again')
    }
    const reader = Object.create(world.store, { entry: { value: refused }, chunksOf: { value: refused } })
    for (const name of ['lastSeq', 'firstSeq', 'changesSince'] as const) {
      reader[name] = world.store[name].bind(world.store)
    }
    expect(index.refresh(reader)).toBe(1)
    expect(index.position).toBe(world.store.lastSeq())
  })

  it('reads only what is new, however much more than what it has comes in at once', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(2500, 9)
    world.apply(edits.slice(0, 200))
    const index = openWordIndex()
    index.refresh(world.store)
    const old = world.store.lastSeq()
    world.apply(edits.slice(200))
    const read = new Set<EntryKey>()
    const counting = Object.assign(Object.create(world.store), {
      entries: (keys: readonly EntryKey[]) => {
        for (const key of keys) read.add(key)
        return world.store.entries(keys)
      },
    })
    for (const name of ['lastSeq', 'firstSeq', 'changesSince', 'chunksOfEach', 'scanEntries'] as const) {
      counting[name] = world.store[name].bind(world.store)
    }
    index.refresh(counting)
    const written = world.store.changesSince(old, 5000).map(change => change.entry)
    expect([...read].sort()).toEqual([...new Set(written)].sort())
    const rebuilt = openWordIndex()
    rebuilt.rebuild(world.store)
    expect(answers(index, world)).toEqual(answers(rebuilt, world))
  })

  it('reads the store from nothing, not a feed that may be much longer', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(30, 8))
    const index = openWordIndex()
    const { store } = world
    const feedless = Object.assign(Object.create(store), {
      changesSince: () => expect.unreachable('the feed was read'),
    })
    index.refresh(feedless)
    expect(index.position).toBe(store.lastSeq())
    expect(index.count({ partitions: world.partitionsOf(...AUDIENCE_NAMES) })).toBeGreaterThan(30)
  })

  it('keeps few segments however many single writes come', () => {
    const world = new WordWorld(openMemoryStore())
    const index = openWordIndex()
    for (const edit of forest(300, 5)) {
      world.apply([edit])
      index.refresh(world.store)
    }
    const header = JSON.parse(/\{.*?\]\}/.exec(Buffer.concat(index.serialise()).toString('latin1'))?.[0] ?? '')
    // Of a segment: thirteen arrays.
    expect(header.arrays.length).toBeLessThanOrEqual(15 * 13)
    expect(index.count({ partitions: world.partitionsOf(...AUDIENCE_NAMES) })).toBeGreaterThan(300)
  })

  it('takes less than 700 bytes a chunk for chunks of about 130 words', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(300, 6).map((edit, at, all) => {
      const content = [at, at + 1, at + 2, at + 3, at + 4, at + 5].map(next => all[next % 300]?.content).join(' ')
      return textOf(edit.id, content)
    })
    world.apply(edits)
    const index = openWordIndex()
    index.rebuild(world.store)
    expect(index.byteLength / 300).toBeLessThan(700)
  })
})
