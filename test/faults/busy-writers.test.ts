/** Writers of several processes take turns: none is refused, and none starves while the others go on. */

import { expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { runWriters } from './writers.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const [WRITERS, MS] = LONG ? [8, 60_000] : [4, 2_500]

it(`${WRITERS} processes write all the time (QUERENT_LONG=1: 8 for a minute)`, { timeout: MS + 120_000 }, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const figures = await runWriters(folder.file('store.db'), WRITERS, MS)
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  expect(figures.refused).toBe(0)
  // Far from what chance gives: one that starves writes next to nothing.
  expect(figures.least).toBeGreaterThan(0.02)
  const store = openSqliteStore({ file: folder.file('store.db') })
  expect(await damageIn(store)).toEqual([])
  const keys = store.scanEntries(0, 1e6)
  // Every write was two chunks and one line of the feed.
  expect(keys.flatMap(key => store.chunksOf(key))).toHaveLength(2 * keys.length)
  expect(store.changesSince(0, 1e6)).toHaveLength(figures.writes)
  store.close()
})
