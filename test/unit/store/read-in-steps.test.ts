/** QE-019: a long read pauses and sees one state; it keeps nobody from writing for longer than it runs. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Steps } from '../../../src/base/turns.ts'
import { openMemoryStore, openSqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { idsIn, NOW, openFile, putShort, turnsThat } from '../../support/store-steps.ts'

function openAgain(file: string, options: Partial<SqliteStoreOptions> = {}): Store {
  const store = openSqliteStore({ file, ...options })
  onTestFinished(() => store.close())
  return store
}

/** What is seen at each of three steps. */
const looking = (store: Store) =>
  function* (): Steps<readonly unknown[]> {
    const seen: unknown[] = []
    for (let at = 0; at < 3; at++) {
      seen.push([idsIn(store), store.version()])
      yield
    }
    return seen
  }

describe.each([
  ['a store that may be written', {}],
  ['a store that is only read', { readOnly: true }],
])('a long read of %s', (_, options) => {
  it('QE-019: sees one state to its end, also between its steps, while another connection writes without waiting', async () => {
    const { store: other, file } = openFile()
    putShort(other, 'a')
    const store = openAgain(file, options)
    const between: unknown[] = []
    const seen = await store.readInSteps(
      looking(store),
      turnsThat(pause => {
        putShort(other, `b${pause}`)
        between.push([idsIn(store), store.version()])
      }),
    )
    expect(new Set([...seen, ...between].map(one => JSON.stringify(one))).size).toBe(1)
    expect(idsIn(store)).toEqual(idsIn(other))
    expect(idsIn(store).length).toBeGreaterThan(2)
  })

  it('runs beside a transaction that another connection does not end', async () => {
    const { store: other, file } = openFile()
    putShort(other, 'a')
    const store = openAgain(file, { timeoutMs: 30, ...options })
    let seen: readonly unknown[] = []
    const writing = async () => {
      seen = await store.readInSteps(
        looking(store),
        turnsThat(() => {}),
      )
    }
    const body = function* (): Steps<void> {
      yield
    }
    await other.writeInSteps(NOW, body, turnsThat(writing))
    expect(seen).toHaveLength(3)
  })
})

describe.each([
  ['in a file', () => openFile().store],
  ['in memory', () => openMemoryStore()],
])('a long read of a store %s', (_, open) => {
  it('QE-019: is run to its end by a write that cannot wait for it, and waited for by one that can', async () => {
    const store = open()
    putShort(store, 'a')
    const order: string[] = []
    const later: Promise<unknown>[] = []
    const body = function* (): Steps<void> {
      for (let at = 0; at < 3; at++) yield
      order.push('read')
    }
    const between = (pause: number) => {
      if (pause !== 1) return
      later.push(store.writeWhenFree(NOW, () => order.push('waited')))
      putShort(store, 'b')
      order.push('wrote')
    }
    await store.readInSteps(body, turnsThat(between))
    await Promise.all(later)
    expect(order).toEqual(['read', 'wrote', 'waited'])
    expect(idsIn(store)).toEqual(['a', 'b'])
  })

  it('rejects with what it fails with, and the store is read and written as before', async () => {
    const store = open()
    const failing = function* (): Steps<void> {
      yield
      throw new Error('no')
    }
    const going = turnsThat(() => {
      throw new Error('gone')
    })
    await expect(
      store.readInSteps(
        failing,
        turnsThat(() => {}),
      ),
    ).rejects.toThrow('no')
    await expect(store.readInSteps(looking(store), going)).rejects.toThrow('gone')
    putShort(store, 'a')
    expect(idsIn(store)).toEqual(['a'])
  })
})

it('refuses a write that may not wait, and only while it runs', async () => {
  const { store } = openFile()
  const refused = expect.objectContaining({ code: 'store_locked' })
  await store.readInSteps(
    looking(store),
    turnsThat(() => expect(() => store.write(NOW, () => {}, 0)).toThrow(refused)),
  )
  store.write(NOW, () => {}, 0)
})

it('is cancelled where the store is closed', async () => {
  const { store } = openFile()
  const read = store.readInSteps(
    looking(store),
    turnsThat(() => store.close()),
  )
  await expect(read).rejects.toMatchObject({ code: 'cancelled' })
})

it('runs in one piece in a file without a write-ahead log, where writers would wait for it', async () => {
  const { store } = openFile({ walMode: false })
  let pauses = 0
  const seen = await store.readInSteps(
    looking(store),
    turnsThat(() => pauses++),
  )
  expect([seen.length, pauses]).toEqual([3, 0])
})
