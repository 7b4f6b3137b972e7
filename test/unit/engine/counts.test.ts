import { afterAll, expect, it } from 'vitest'
import { countVisible } from '../../../src/engine/listing.ts'
import { audience } from '../../../src/model/partition.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

it('counts once as long as nobody commits, each access scope by itself', () => {
  const file = folder.file('store.db')
  const [mine, theirs] = [openSqliteStore({ file }), openSqliteStore({ file })]
  put(mine, 'a', 'public')
  put(mine, 'b', 'private')
  let counted = 0
  const store: Store = Object.create(mine, {
    version: { value: () => mine.version() },
    count: {
      value: (...asked: Parameters<Store['count']>) => {
        counted++
        return mine.count(...asked)
      },
    },
  })
  const seen = (...partitions: number[]) => countVisible(store, { viewer: { id: 'ann' }, partitions })
  expect([seen(1), seen(1, 2), seen(1), seen(1, 2)]).toEqual([1, 2, 1, 2])
  expect(counted).toBe(2)
  put(mine, 'c', 'public')
  expect([seen(1), seen(1, 2)]).toEqual([2, 3])
  put(theirs, 'd', 'private')
  expect([seen(1), seen(1, 2)]).toEqual([2, 4])
  mine.close()
  theirs.close()
})

function put(store: Store, id: string, kind: 'public' | 'private'): void {
  const draft = draftOf({ id, audience: audience(kind, 'ann') })
  store.write(1, writer => writer.put(draft, wholeChunk(draft)))
}
