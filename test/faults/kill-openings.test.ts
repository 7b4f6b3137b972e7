/** Homes whose first opening is killed can be opened. */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { killOpenings } from './kill-openings.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 4

it(`first openings survive ${KILLS} kills (QUERENT_LONG=1: 200)`, { timeout: KILLS * 15_000 }, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const figures = await killOpenings(folder.path, KILLS, Date.now() & 0xffff)
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  expect(figures.wrong).toEqual([])
  expect(figures.kills).toBe(KILLS)
})
