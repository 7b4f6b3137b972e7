/** Writes of the lens `beliefs` that are killed anywhere are there whole or not at all (BQ-003, BQ-199). */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../src/testing/temp-folder.ts'
import { killBeliefs } from './kill-beliefs.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 5

it(`beliefs and trust survive ${KILLS} kills (QUERENT_LONG=1: 200)`, { timeout: KILLS * 20_000 }, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const figures = await killBeliefs(folder.file('store.db'), KILLS, Date.now() & 0xffff)
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  expect(figures.wrong).toEqual([])
  expect(figures.acts).toBeGreaterThan(KILLS)
})
