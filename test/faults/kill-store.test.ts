/** kill -9 at any moment: what a process said it had written is there, whole, and nothing is half there. */

import { writeFileSync } from 'node:fs'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { openMemoryStore, openSqliteStore } from '../../src/store/sqlite-store.ts'
import { damageIn } from '../support/damage-in.ts'
import { histories } from '../support/histories.ts'
import { observe } from '../support/play.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { Child } from './child.ts'
import { actsTaken, takeNextAct } from './crash-acts.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 6
/** A process is killed at most this long after it began to write. */
const LIFE_MS = 150
/** On a slow disk some do nothing before they are killed. */
const MAX_KILLS = 5 * KILLS

it(`survives ${KILLS} kills (QUERENT_LONG=1: 200)`, { timeout: MAX_KILLS * 6_000 }, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = folder.file('store.db')
  const acts = fc.sample(histories(40), { seed: 1, numRuns: 40 }).flat()
  const actsFile = folder.file('acts')
  writeFileSync(actsFile, serialize(acts))
  const twin = openMemoryStore('twin')
  openSqliteStore({ file, storeId: 'twin' }).close()
  let survived = 0
  for (let kill = 0; kill < KILLS || (survived <= KILLS && kill < MAX_KILLS); kill++) {
    await using child = new Child('store-child.ts', import.meta.url, ['play', file, actsFile])
    await child.says('ready')
    await new Promise(resolve => setTimeout(resolve, Math.random() * LIFE_MS))
    const acknowledged = Number((await child.kill()).at(-1)?.split(' ')[1] ?? survived)

    const store = openSqliteStore({ file })
    survived = actsTaken(store)
    // The last act may have been committed and the child killed before it could say so.
    expect(survived - acknowledged, `kill ${kill}`).toBeOneOf([0, 1])
    while (actsTaken(twin) < survived) takeNextAct(twin, acts)
    expect(await damageIn(store)).toEqual([])
    expect(observe(store), `kill ${kill}`).toEqual(observe(twin))
    store.close()
  }
  expect(survived).toBeGreaterThan(KILLS)
})
