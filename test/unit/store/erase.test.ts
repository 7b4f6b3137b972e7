/** What SQLite leaves in room that pages do not use is overwritten, and nothing else, whoever writes meanwhile. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { isDirty, slackOf } from '../../../src/store/sqlite/erase.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { damageIn } from '../../support/damage-in.ts'
import { seededUniform } from '../../support/seeded.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { Rewriting } from './rewriting.ts'

interface Opened {
  readonly file: string
  readonly store: Store
}

function open(): Opened {
  const folder = tempFolder()
  const file = folder.file('store.db')
  const store = openSqliteStore({ file })
  onTestFinished(() => {
    store.close()
    folder[Symbol.dispose]()
  })
  return { file, store }
}

/** Marks of what is gone that stand in the file, whose log is empty. */
function leftIn({ file, store }: Opened, gone: readonly string[]): readonly string[] {
  expect(store.upkeep?.log()?.bytes ?? 0).toBe(0)
  const bytes = readFileSync(file, 'latin1')
  return gone.filter(mark => bytes.includes(mark))
}

async function erase({ store }: Opened): Promise<boolean | undefined> {
  const erased = await store.upkeep?.erase(store.upkeep.forgotten()?.mark ?? '', 1_000)
  await store.upkeep?.fold('empty', 1_000)
  return erased
}

it('overwrites what pages keep of texts that are gone, and leaves all others as they are', async () => {
  let kept = 0
  for (let seed = 1; kept < 3; seed++) {
    const opened = open()
    const rewriting = new Rewriting(opened.store, seededUniform(seed))
    await rewriting.run(600)
    await opened.store.upkeep?.fold('empty', 1_000)
    kept += leftIn(opened, rewriting.gone).length
    expect(await erase(opened)).toBe(true)
    expect(leftIn(opened, rewriting.gone)).toEqual([])
    expect([await damageIn(opened.store), rewriting.wrong()]).toEqual([[], []])
    expect(opened.store.upkeep?.forgotten()).toMatchObject({ isErased: true })
  }
})

it('is not undone by what others remember of a page, and disturbs nobody who writes', async () => {
  const opened = open()
  const rewriting = new Rewriting(opened.store, seededUniform(99))
  const writer = startWriter(opened.file, 1)
  for (let round = 0; round < 6; round++) {
    await rewriting.run(60)
    await opened.store.upkeep?.erase(opened.store.upkeep.forgotten()?.mark ?? '', 1_000)
  }
  const reported = await end(writer)
  expect(reported.wrong).toEqual([])
  expect(reported.acts).toBeGreaterThan(0)
  expect(await erase(opened)).toBe(true)
  const gone = [...rewriting.gone, ...reported.gone]
  expect(leftIn(opened, gone)).toEqual([])
  expect([await damageIn(opened.store), rewriting.wrong()]).toEqual([[], []])
  // Touches many of the pages that were overwritten: this connection has read them before.
  await rewriting.run(200)
  await opened.store.upkeep?.fold('empty', 1_000)
  expect(leftIn(opened, gone)).toEqual([])
})

it('is refused in words where no process can be had', async () => {
  const { store } = open()
  const path = process.execPath
  onTestFinished(() => {
    process.execPath = path
  })
  process.execPath = '/nowhere/node'
  await expect(store.upkeep?.erase('1', 100)).rejects.toMatchObject({ code: 'io_failed' })
})

it('takes nothing for a page of a tree that is none', () => {
  const page = Buffer.alloc(4096)
  page.set([13, 0, 0, 0, 2, 15, 0, 0, 15, 160, 15, 0])
  expect(slackOf(page, 4096, false)).toEqual({ from: 12, to: 3840 })
  expect(isDirty(page, { from: 12, to: 3840 })).toBe(false)
  page[3839] = 1
  expect(isDirty(page, { from: 12, to: 3840 })).toBe(true)
  // A cell, or free room among cells, that lies in it; one behind the end; more cells than there is room.
  for (const [at, bytes] of [
    [8, [14, 0]],
    [8, [16, 0]],
    [1, [14, 0]],
    [3, [8, 0]],
    [0, [0]],
    [0, [11]],
  ] as const) {
    const other = Buffer.from(page)
    other.set(bytes, at)
    expect(slackOf(other, 4096, false)).toBeNull()
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 512, maxLength: 512 }), bytes => {
      const slack = slackOf(Buffer.from(bytes), 512, false)
      expect(slack === null || (slack.from >= 8 && slack.from <= slack.to && slack.to <= 512)).toBe(true)
    }),
  )
})

function startWriter(file: string, seed: number): ChildProcess {
  return fork(fileURLToPath(new URL('./rewriting-child.ts', import.meta.url)), [file, String(seed)])
}

async function end(child: ChildProcess): Promise<{ acts: number; gone: string[]; wrong: string[] }> {
  child.send('end')
  const [result] = await once(child, 'message')
  return result as { acts: number; gone: string[]; wrong: string[] }
}
