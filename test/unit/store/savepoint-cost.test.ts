import { expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const ENTRIES = 12_000

/** Milliseconds of processor time, so that others on the machine do not count. */
function cost(act: () => void): number {
  const before = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

it('replaces many entries in one savepoint at the cost of replacing them without one (a file of records)', () => {
  using folder = tempFolder()
  const store = openSqliteStore({ file: folder.file('store.db') })
  const putAll = (writer: StoreWriter, text: string): void => {
    for (let at = 0; at < ENTRIES; at++) {
      const draft = draftOf({ id: `e${at}`, content: `${text} ${'word '.repeat(120)}${at}` })
      writer.put(draft, wholeChunk(draft))
    }
  }
  store.write(1000, writer => putAll(writer, 'first'))
  const plain = cost(() => store.write(2000, writer => putAll(writer, 'second')))
  const inSavepoint = cost(() =>
    store.write(3000, writer =>
      atOnce(
        // biome-ignore lint/correctness/useYield: it is the one step
        writer.savepoint(function* () {
          putAll(writer, 'third')
        }),
      ),
    ),
  )
  // With statements that keep a journal it is 6 times at 12,000 entries, and grows with their number.
  expect(inSavepoint).toBeLessThan(2.5 * plain)
  store.close()
})
