/** Writes of the lens `beliefs` that are killed anywhere are there whole or not at all (BQ-003, BQ-199). */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { repeatUntil } from '../support/until-met.ts'
import { killBeliefs } from './kill-beliefs.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 5
/** Few kills may all come before anything was done. */
const MAX_ROUNDS = LONG ? 1 : 10

it(`beliefs and trust survive ${KILLS} kills (QUERENT_LONG=1: 200)`, {
  timeout: MAX_ROUNDS * KILLS * 20_000,
}, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  let done = 0
  const kill = async (round: number) => {
    const figures = await killBeliefs(folder.file(`${round}.db`), KILLS, Date.now() & 0xffff)
    if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
    expect(figures.wrong).toEqual([])
    done += figures.acts
  }
  await repeatUntil(MAX_ROUNDS, kill, () => expect(done).toBeGreaterThan(KILLS))
})
