/** Cycles and queries of the lens `chroma` that are killed anywhere come to the same result (CQ-071, CQ-134 to CQ-137). */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { repeatUntil } from '../support/until-met.ts'
import { killChroma } from './kill-chroma.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const KILLS = LONG ? 200 : 4
/** Few kills may all come before anything was done. */
const MAX_ROUNDS = LONG ? 1 : 10

it(`cycles and accesses survive ${KILLS} kills (QUERENT_LONG=1: 200)`, {
  timeout: MAX_ROUNDS * KILLS * 15_000,
}, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  let done = 0
  const kill = async (round: number) => {
    const figures = await killChroma(folder.file(`${round}.db`), KILLS, Date.now() & 0xffff)
    if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
    expect(figures.wrong).toEqual([])
    done += figures.acts
  }
  await repeatUntil(MAX_ROUNDS, kill, () => expect(done).toBeGreaterThan(KILLS / 2))
})
