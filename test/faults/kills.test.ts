/** kill -9 at any moment of what lenses and first openings write: a few kills in every run of the tests, two hundred with QUERENT_LONG=1. */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { repeatUntil } from '../support/until-met.ts'
import { killBeliefs } from './kill-beliefs.ts'
import { killChroma } from './kill-chroma.ts'
import { killOpenings } from './kill-openings.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
/** Few kills may all come before anything was done. */
const MAX_ROUNDS = LONG ? 1 : 10

type Kill = (path: string, kills: number, seed: number) => Promise<{ acts: number; wrong: readonly string[] }>

it.each<[what: string, kill: Kill, kills: number, minActs: (kills: number) => number]>([
  ['beliefs and trust (BQ-003, BQ-199)', killBeliefs, 5, kills => kills + 1],
  ['cycles and accesses of chroma (CQ-071, CQ-134 to CQ-137)', killChroma, 4, kills => kills / 2 + 1],
  ['first openings', killOpenings, 4, () => 0],
])('%s survive kills at any moment', { timeout: LONG ? 4_000_000 : 1_000_000 }, async (_, kill, few, minActs) => {
  const kills = LONG ? 200 : few
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  let done = 0
  const round = async (number: number) => {
    const figures = await kill(folder.file(`round-${number}`), kills, Date.now() & 0xffff)
    if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
    expect(figures.wrong).toEqual([])
    done += figures.acts
  }
  await repeatUntil(MAX_ROUNDS, round, () => expect(done).toBeGreaterThanOrEqual(minActs(kills)))
})
