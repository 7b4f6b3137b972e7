import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { IndexSet } from '../../../src/engine/index-set.ts'
import type { Index } from '../../../src/index/contract.ts'
import { openVectorIndex } from '../../../src/index/vectors.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'

const MODEL = 'toy'
const VECTORS = `vectors-${MODEL}`
/** More changes than make a snapshot worth writing. */
const MANY = 600
/** Changes that are taken in along the way. */
const MUCH = 5_000

let folder: TempFolder
let store: Store
beforeEach(() => {
  folder = tempFolder()
  store = openMemoryStore()
})
afterEach(() => folder[Symbol.dispose]())

function put(count: number, prefix = 'e'): void {
  store.write(1, writer => {
    for (let at = 0; at < count; at++) {
      const draft = draftOf({ id: `${prefix}${at}` })
      writer.put(draft, wholeChunk(draft))
    }
  })
}

const inFolder = () => folder.file('index')

/** Each time other indexes, as in another process. */
function open(where: string | null = inFolder()): { set: IndexSet; words: Index; vectors: Index } {
  const words = openWordIndex()
  const vectors = openVectorIndex({ model: MODEL, dimensions: 4, source: chunks => store.vectors(MODEL, chunks) })
  return { set: new IndexSet(store, where, [words, vectors]), words, vectors }
}

describe('the indexes of an engine', () => {
  it('are loaded and brought forward when they are asked for, each by itself', () => {
    put(3)
    const { set, words, vectors } = open()
    expect(set.names).toEqual(['words', VECTORS])
    expect(set.get('words')).toBe(words)
    expect([words.position, vectors.position]).toEqual([3, 0])
    put(2, 'f')
    set.refresh()
    expect([words.position, vectors.position]).toEqual([5, 0])
    expect(set.all).toEqual([words, vectors])
    expect(vectors.position).toBe(5)
  })

  it('are not saved again by a process that has not heard of another’s saving', () => {
    put(MANY)
    const [mine, others] = [open().set, open().set]
    expect([mine.isWorthSaving, others.isWorthSaving]).toEqual([true, true])
    atOnce(others.save())
    const snapshot = join(inFolder(), 'words.snapshot')
    const { ino } = statSync(snapshot)
    atOnce(mine.save())
    expect(statSync(snapshot).ino).toBe(ino)
    expect(mine.isWorthSaving).toBe(false)
    put(MANY, 'f')
    atOnce(mine.save())
    expect(statSync(snapshot).ino).not.toBe(ino)
  })

  it('come all to one state when one more is loaded', () => {
    put(3)
    const { set, words, vectors } = open()
    set.get('words')
    put(2, 'f')
    set.get(VECTORS)
    expect([words.position, vectors.position]).toEqual([5, 5])
  })

  it('are saved when that spares the next process enough, loaded or not', () => {
    put(MANY)
    const first = open()
    expect(first.set.isWorthSaving).toBe(true)
    first.set.get('words')
    atOnce(first.set.save())
    expect(readdirSync(inFolder())).toHaveLength(2)
    expect(first.set.isWorthSaving).toBe(false)

    const second = open()
    expect(second.set.isWorthSaving).toBe(false)
    atOnce(second.set.save())
    expect([second.words.position, second.vectors.position]).toEqual([0, 0])
    second.set.get('words')
    expect(second.words.position).toBe(MANY)
  })

  it('are not saved for a few changes', () => {
    put(MANY)
    atOnce(open().set.save())
    put(3, 'f')
    expect(open().set.isWorthSaving).toBe(false)
    put(MANY, 'g')
    expect(open().set.isWorthSaving).toBe(true)
  })

  it('follow many writes when asked to catch up, loaded or not, and leave little to the next question', () => {
    put(MANY)
    atOnce(open().set.save())
    const { set, words, vectors } = open()
    put(MUCH - 1, 'f')
    atOnce(set.keepUp('words'))
    expect(words.position).toBe(0)
    put(1, 'g')
    atOnce(set.keepUp('words'))
    expect([words.position, vectors.position]).toEqual([MANY + MUCH, 0])
    put(MUCH - 1, 'h')
    atOnce(set.keepUp('words'))
    expect(words.position).toBe(MANY + MUCH)
    put(1, 'i')
    atOnce(set.keepUp('words'))
    expect(words.position).toBe(MANY + 2 * MUCH)
  })

  it('live without a folder', () => {
    put(MANY)
    const { set, words } = open(null)
    expect(set.isWorthSaving).toBe(false)
    atOnce(set.save())
    set.get('words')
    expect(words.position).toBe(MANY)
    expect(existsSync(inFolder())).toBe(false)
  })
})
