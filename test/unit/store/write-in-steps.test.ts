/** QE-019: a long write pauses in its transaction; nobody sees a part of it, and nobody waits for it on this thread. */

import { statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Steps, Turns } from '../../../src/base/turns.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { damageIn } from '../../support/damage-in.ts'
import { draftOf, lineChunks, wholeChunk } from '../../support/entries.ts'
import { idsIn, NOW, openFile, putShort, turnsThat } from '../../support/store-steps.ts'

const LINES = 2_000

const LONG = draftOf({ id: 'long', content: Array.from({ length: LINES }, (_, at) => `line ${at}`).join('\n') })
const putLong = (writer: StoreWriter) => writer.putInSteps(LONG, lineChunks(LONG))

it('QE-019: what it writes is there at once, whole and after its last pause; what it replaces is read until then', async () => {
  const { store } = openFile()
  const old = draftOf({ id: 'long', content: 'old' })
  store.write(NOW, writer => writer.put(old, wholeChunk(old)))
  const seen: (readonly [string | undefined, number, number])[] = []
  const look = () => seen.push([store.entry(1)?.content, store.chunksOf(1).length, store.version()])
  const before = store.version()
  await store.writeInSteps(NOW + 1, putLong, turnsThat(look))
  expect(seen.length).toBeGreaterThan(LINES / 512)
  for (const at of seen) expect(at).toEqual(['old', 1, before])
  expect([store.entry(1)?.content, store.chunksOf(1).length]).toEqual([LONG.content, LINES])
  expect(store.version()).not.toBe(before)
  expect(store.changesSince(0, 9).map(({ at, kind }) => [at, kind])).toEqual([
    [NOW, 'put'],
    [NOW + 1, 'put'],
  ])
  expect(await damageIn(store)).toEqual([])
})

it('QE-019: the commit writes a few megabytes at most, however long the transaction is', async () => {
  const { store, file } = openFile()
  const logBytes = () => statSync(`${file}-wal`).size
  // As where a keeper folds the log back: no commit does.
  store.upkeep?.foldInCommits(1e9)
  let before = 0
  await store.writeInSteps(
    NOW,
    function* (writer) {
      for (let at = 0; at < 40; at++) {
        const draft = draftOf({ id: `e${at}`, content: `${at} `.repeat(300_000) })
        yield* writer.putInSteps(draft, wholeChunk(draft))
        yield
      }
    },
    turnsThat(() => {
      before = logBytes()
    }),
  )
  expect(before).toBeGreaterThan(20e6)
  expect(logBytes() - before).toBeLessThan(6e6)
})

it('writes what a put in one piece writes, in every store', async () => {
  const contents: unknown[] = []
  for (const store of [openFile().store, openFile({ walMode: false }).store, openMemoryStore()]) {
    const { created } = await store.writeInSteps(
      NOW,
      putLong,
      turnsThat(() => {}),
    )
    contents.push([created, store.entries([1]), store.chunksOf(1), store.changesSince(0, 9)])
  }
  const { store } = openFile()
  const { created } = store.write(NOW, writer => writer.put(LONG, lineChunks(LONG)))
  for (const one of contents)
    expect(one).toEqual([created, store.entries([1]), store.chunksOf(1), store.changesSince(0, 9)])
})

it('a write that can wait comes after it in one piece, one that cannot is refused, and others stand in line', async () => {
  const { store } = openFile()
  const order: string[] = []
  const later: Promise<unknown>[] = []
  const between = (pause: number) => {
    if (pause === 1) {
      expect(() => store.write(NOW, () => order.push('refused'), 0)).toThrow(
        expect.objectContaining({ code: 'store_locked' }),
      )
      later.push(store.writeWhenFree(NOW, () => order.push('in line')))
    }
    if (pause === 2) {
      order.push('comes')
      putShort(store, 'short')
      order.push('written')
    }
  }
  const body = function* (writer: StoreWriter): Steps<void> {
    yield* putLong(writer)
    order.push('long')
  }
  await store.writeInSteps(NOW, body, turnsThat(between))
  await Promise.all(later)
  expect(order).toEqual(['comes', 'long', 'written', 'in line'])
  expect(idsIn(store)).toEqual(['long', 'short'])
})

it('leaves nothing when its body or its caller ends it, or the store is closed, and the next one writes', async () => {
  const { store, file } = openFile()
  putShort(store, 'first')
  const failing = function* (writer: StoreWriter): Steps<void> {
    yield* putLong(writer)
    throw new Error('no')
  }
  await expect(
    store.writeInSteps(
      NOW,
      failing,
      turnsThat(() => {}),
    ),
  ).rejects.toThrow('no')
  const gone = turnsThat(() => {
    throw new Error('gone')
  })
  await expect(store.writeInSteps(NOW, putLong, gone)).rejects.toThrow('gone')
  expect(idsIn(store)).toEqual(['first'])
  putShort(store, 'second')
  const closing = turnsThat(pause => {
    if (pause === 3) store.close()
  })
  await expect(store.writeInSteps(NOW, putLong, closing)).rejects.toMatchObject({ code: 'cancelled' })
  const again = openSqliteStore({ file })
  expect(idsIn(again)).toEqual(['first', 'second'])
  expect(await damageIn(again)).toEqual([])
  again.close()
})

it('waits for the writers of other connections, and is refused when they write too long', async () => {
  const { store, file } = openFile({ timeoutMs: 30 })
  const other = openSqliteStore({ file })
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let isHeld = () => {}
  const held = new Promise<void>(resolve => {
    isHeld = resolve
  })
  const holding = other.writeInSteps(
    NOW,
    function* (): Steps<void> {
      isHeld()
      yield
    },
    turnsThat(() => released),
  )
  await held
  await expect(store.writeInSteps(NOW, putLong, new Turns())).rejects.toMatchObject({ code: 'store_locked' })
  release()
  await holding
  await store.writeInSteps(NOW, putLong, new Turns())
  expect(idsIn(store)).toEqual(['long'])
  other.close()
})

it('a store says until when a long write pauses', async () => {
  const { store } = openFile()
  expect(store.whenFree()).toBeNull()
  let [isOver, free]: [boolean, Promise<void> | null] = [false, null]
  const looking = function* (): Steps<void> {
    yield
    isOver = true
  }
  await store.writeInSteps(
    NOW,
    looking,
    turnsThat(() => {
      free ??= store.whenFree()
      expect(isOver).toBe(false)
    }),
  )
  expect(free).not.toBeNull()
  await free
  expect(isOver).toBe(true)
  while (store.whenFree() !== null) await store.whenFree()
})
