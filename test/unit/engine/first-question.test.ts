import { expect, it } from 'vitest'
import { openEngine } from '../../../src/engine/open.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import type { Store, StoreReader } from '../../../src/store/store.ts'

const BUILT_IN_MS = 1_500

it('gives a question its whole time after an index was built for it', async () => {
  const store = openMemoryStore()
  const filling = await openEngine({ store, embedder: 'none', background: false })
  await filling.put({ entries: [{ id: 'a', content: 'The harbour lies to the north.' }] })
  let reads = 0
  await using engine = await openEngine({
    store: slowToScan(store, () => reads++),
    embedder: 'none',
    background: false,
  })
  const page = await engine.query({ text: 'harbour', timeout_ms: BUILT_IN_MS - 300 })
  expect(page.items.map(({ id }) => id)).toEqual(['a'])
  expect(reads).toBeGreaterThan(0)
})

/** Every scan, with which an index is built from the store, takes long. */
function slowToScan<T extends Store | StoreReader>(store: T, scanned: () => void): T {
  return new Proxy(store, {
    get(from, name) {
      const member: unknown = Reflect.get(from, name, from)
      if (typeof member !== 'function') return member
      if (name === 'read') {
        return (body: (reader: StoreReader) => unknown) =>
          member.call(from, (reader: StoreReader) => body(slowToScan(reader, scanned)))
      }
      return (...given: unknown[]) => {
        if (name === 'scanEntries') {
          scanned()
          const end = performance.now() + BUILT_IN_MS
          while (performance.now() < end);
        }
        return member.apply(from, given)
      }
    },
  })
}
