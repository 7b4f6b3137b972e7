import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { must } from '../../src/base/assert.ts'
import { Turns } from '../../src/base/turns.ts'
import { audience } from '../../src/model/partition.ts'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import type { Store, StoreReader } from '../../src/store/store.ts'
import { draftOf, lineChunks } from '../support/entries.ts'
import { LINK } from '../support/play.ts'
import { NOW, shortForms } from '../support/store-short-forms.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { storeSuite } from './store-suite.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

let made = 0
const openFile = () => openSqliteStore({ file: folder.file(`${++made}.db`) })
storeSuite('a file', openFile)
storeSuite('memory', () => openMemoryStore())

describe('a store that keeps its state', () => {
  const idsIn = (store: Store) => store.entries(store.scanEntries(0, 99)).map(({ id }) => id)
  const add = (store: Store, id: string) =>
    store.write(NOW, writer => writer.put(draftOf({ id }), lineChunks(draftOf({ id }))))
  let file: string
  let other: Store
  let kept: Store
  beforeEach(() => {
    file = folder.file(`${++made}.db`)
    other = openSqliteStore({ file })
    add(other, 'first')
    kept = openSqliteStore({ file, keepsState: true })
  })
  afterEach(() => {
    kept.close()
    other.close()
  })

  it('reads what was committed at its first read, within transactions and outside, while others write without waiting', () => {
    expect([idsIn(kept), kept.version(), kept.lastSeq()]).toEqual([['first'], kept.version(), other.lastSeq()])
    const [version, last] = [kept.version(), kept.lastSeq()]
    add(other, 'second')
    other.write(NOW, writer => writer.table(LINK).put({ source: 'a', rank: 1, weight: 1 }))
    expect([idsIn(kept), kept.read(() => idsIn(kept))]).toEqual([['first'], ['first']])
    expect([kept.version(), kept.lastSeq(), kept.table(LINK).scan()]).toEqual([version, last, []])
    expect(idsIn(other)).toEqual(['first', 'second'])
  })

  it('reads what is committed from its own first write on, and then as every other store', () => {
    const version = [idsIn(kept), kept.version()].at(-1)
    add(other, 'second')
    add(kept, 'third')
    expect(idsIn(kept)).toEqual(['first', 'second', 'third'])
    add(other, 'fourth')
    expect([idsIn(kept).length, kept.version() === version]).toEqual([4, false])
  })

  it('reads what a write in steps has committed, and its writes are undone where they fail', async () => {
    expect(idsIn(kept)).toEqual(['first'])
    const failing = () =>
      kept.write(NOW, writer => {
        writer.put(draftOf({ id: 'never' }), [])
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    await kept.writeInSteps(
      NOW,
      function* (writer) {
        yield
        return writer.put(draftOf({ id: 'stepped' }), [])
      },
      new Turns(),
    )
    expect(idsIn(kept)).toEqual(['first', 'stepped'])
  })

  it('leaves its state for whoever folds the log back or erases, and makes snapshots and checks beside it', async () => {
    expect(idsIn(kept)).toEqual(['first'])
    const snapshot = must(kept.snapshot(), 'a snapshot')
    expect(snapshot.reader.entries(snapshot.reader.scanEntries(0, 9)).length).toBe(1)
    snapshot.close()
    expect((await kept.check()).filter(({ ok }) => !ok)).toEqual([])
    add(other, 'second')
    const upkeep = must(kept.upkeep, 'its upkeep')
    expect(await upkeep.fold('empty', 1_000)).toBe(true)
    await upkeep.endThread()
    expect(idsIn(kept)).toEqual(['first', 'second'])
  })
})

describe('a snapshot of a file', () => {
  let store: Store
  beforeEach(() => {
    store = openFile()
  })
  afterEach(() => store.close())
  const { put } = shortForms(() => store)

  it('holds the state of its moment, whatever is written, until it is closed', () => {
    const kept = put(draftOf({ id: 'kept', audience: audience('private', 'new') })).key
    const gone = put(draftOf({ id: 'gone' })).key
    store.write(NOW, writer => {
      writer.touch({ id: 'ann' }, [kept], NOW, 1)
      writer.table(LINK).put({ source: 'a', rank: 1, weight: 1 })
    })
    const stateOf = (reader: StoreReader) => ({
      entries: reader.entries(reader.scanEntries(0, 99)),
      chunks: reader.chunksOf(kept),
      access: [...reader.access({ id: 'ann' }, [kept])],
      viewers: reader.accessViewers(),
      links: reader.table(LINK).scan(),
      partitions: reader.partitions(),
      lastSeq: reader.lastSeq(),
    })
    const before = stateOf(store)
    const snapshot = must(store.snapshot(), 'a snapshot')
    const write = (content: string, weight: number) => {
      const draft = draftOf({ id: 'kept', content, audience: audience('private', 'new') })
      store.write(NOW, writer => {
        writer.put(draft, lineChunks(draft))
        writer.delete(gone)
        writer.put(draftOf({ id: content, audience: audience('private', content) }), [])
        writer.touch({ id: 'ann' }, [kept], NOW + 1, 1)
        writer.touch({ id: content }, [kept], NOW, 1)
        writer.table(LINK).put({ source: 'a', rank: 1, weight })
        writer.table(LINK).put({ source: content, rank: 1, weight })
      })
    }
    write('first', 2)
    expect(stateOf(snapshot.reader)).toEqual(before)
    write('second', 3)
    expect(stateOf(snapshot.reader)).toEqual(before)
    snapshot.close()
    snapshot.close()
    const later = must(store.snapshot(), 'a snapshot')
    expect(stateOf(later.reader)).toEqual(stateOf(store))
    later.close()
  })

  it('is closed with its store', () => {
    put(draftOf({ id: 'a' }))
    const snapshot = must(store.snapshot(), 'a snapshot')
    store.close()
    snapshot.close()
  })
})
