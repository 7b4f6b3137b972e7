/** When a store's version moves: caches are kept until then, by each process on the store. */
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { LEASES, NONCES } from '../../../src/store/core-tables.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { draftOf } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const NOW = 1
const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())

const CHANGES: Readonly<Record<string, (writer: StoreWriter, n: number) => void>> = {
  entry: (writer, n) => void writer.put(draftOf({ id: `entry-${n}` }), []),
  meta: (writer, n) => writer.setMeta('a', String(n)),
  'entry and use': (writer, n) =>
    writer.touch({ id: 'ana' }, [writer.put(draftOf({ id: `both-${n}` }), []).key], NOW, 1),
}
const NO_CHANGES: typeof CHANGES = {
  use: writer => writer.touch({ id: 'ana' }, [1], NOW, 1),
  lease: (writer, n) => writer.table(LEASES).put({ name: 'a', holder: String(n), expires_at: n }),
  nonce: (writer, n) => writer.table(NONCES).put({ sender: 'a', nonce: String(n), stretch: 1 }),
  nothing: () => {},
}
const ACTS = { ...CHANGES, ...NO_CHANGES }

it('moves with what either of two processes changes, and never with uses, leases and numbers of signed requests', () => {
  let made = 0
  const act = fc.record({ by: fc.constantFrom(0, 1), does: fc.constantFrom(...Object.keys(ACTS)), fails: fc.boolean() })
  const looks = fc.record({ looks: fc.constantFrom(0, 1) })
  fc.assert(
    fc.property(fc.array(fc.oneof(act, looks), { minLength: 1, maxLength: 30 }), steps => {
      const file = folder.file(`${++made}.db`)
      const stores = [openSqliteStore({ file }), openSqliteStore({ file })] as const
      stores[0].write(NOW, writer => CHANGES['entry']?.(writer, 0))
      const seen = stores.map(store => store.version())
      const isDue = [false, false]
      for (const [n, step] of steps.entries()) {
        if ('looks' in step) {
          expect(stores[step.looks]?.version() !== seen[step.looks]).toBe(isDue[step.looks])
          seen[step.looks] = stores[step.looks]?.version() ?? 0
          isDue[step.looks] = false
          continue
        }
        const didWrite = write(stores[step.by] as Store, step.does, n + 1, step.fails)
        if (didWrite && step.does in CHANGES) isDue.fill(true)
      }
      for (const store of stores) store.close()
    }),
  )
})

it('moves when what was forgotten is erased', async () => {
  const file = folder.file('erased.db')
  const [one, other] = [openSqliteStore({ file }), openSqliteStore({ file })]
  one.write(NOW, writer => writer.delete(writer.put(draftOf({ id: 'a' }), []).key))
  const { mark } = one.upkeep?.forgotten() ?? { mark: '' }
  const version = other.version()
  expect(await one.upkeep?.erase(mark, 1000)).toBe(true)
  expect(other.version()).not.toBe(version)
  expect(other.upkeep?.forgotten()?.isErased).toBe(true)
  for (const store of [one, other]) store.close()
})

function write(store: Store, does: string, n: number, fails: boolean): boolean {
  try {
    store.write(NOW, writer => {
      ACTS[does]?.(writer, n)
      if (fails) throw new Error('no')
    })
    return true
  } catch (error) {
    expect((error as Error).message).toBe('no')
    return false
  }
}
