import { symlinkSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

function open() {
  const folder = tempFolder()
  const store = openSqliteStore({ file: folder.file('store.db') })
  onTestFinished(() => {
    store.close()
    folder[Symbol.dispose]()
  })
  const { upkeep } = store
  if (upkeep === undefined) throw new Error('a store on disk has its upkeep')
  const put = (content: string) => {
    const draft = draftOf({ id: 'a', content })
    return store.write(1, writer => writer.put(draft, wholeChunk(draft)))
  }
  return { store, upkeep, put }
}

it('a thread empties the log at every request, and leaves no listener behind', async () => {
  const { upkeep, put } = open()
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  for (let round = 0; round < 12; round++) {
    put(`round ${round}`)
    expect(upkeep.log()?.bytes).toBeGreaterThan(0)
    expect(await upkeep.fold('empty', 100)).toBe(true)
    expect(upkeep.log()?.bytes).toBe(0)
  }
  await upkeep.endThread()
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings).toEqual([])
})

it('finds the log where the store is reached by a link, and erases through it', async () => {
  const folder = tempFolder()
  symlinkSync(folder.file('store.db'), folder.file('link.db'))
  const store = openSqliteStore({ file: folder.file('link.db') })
  onTestFinished(() => {
    store.close()
    folder[Symbol.dispose]()
  })
  const draft = draftOf({ id: 'a', content: 'one' })
  const { key } = store.write(1, writer => writer.put(draft, wholeChunk(draft)))
  expect(store.upkeep?.log()?.bytes).toBeGreaterThan(0)
  store.write(2, writer => writer.delete(key))
  expect(await store.upkeep?.erase(store.upkeep.forgotten()?.mark ?? '', 100)).toBe(true)
  expect(store.upkeep?.forgotten()).toMatchObject({ isErased: true })
})

it('marks what is deleted or replaced, and nothing else, until that very mark is erased', async () => {
  const { store, upkeep, put } = open()
  const { key } = put('one')
  store.write(2, writer => writer.touch({ id: 'ann' }, [key], 2, 1))
  expect(upkeep.forgotten()).toBeNull()
  put('two')
  const first = upkeep.forgotten()
  expect(first).toMatchObject({ seq: 2, isErased: false })
  store.write(3, writer => writer.delete(key))
  expect(await upkeep.erase(first?.mark ?? '', 100)).toBe(true)
  const second = upkeep.forgotten()
  expect(second).toMatchObject({ seq: 3, isErased: false })
  expect(await upkeep.erase(second?.mark ?? '', 100)).toBe(true)
  expect(upkeep.forgotten()).toMatchObject({ isErased: true })
})
