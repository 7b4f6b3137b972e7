import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { must } from '../../src/base/assert.ts'
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
