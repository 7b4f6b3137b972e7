/** Several processes on one store at once (QE-019): nothing that was acknowledged is lost, and all answer alike. */
import { expect, it, onTestFinished } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { runMany } from './many-processes.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
const SETTINGS = LONG
  ? { processes: 8, ms: 600_000, killEveryMs: 4_000 }
  : { processes: 4, ms: 6_000, killEveryMs: 2_000 }
const { processes, ms } = SETTINGS
const name = `${processes} processes write, add, ask and delete at once and die (QUERENT_LONG=1: 8, ten minutes)`

it(name, { timeout: ms + 600_000 }, async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const figures = await runMany(folder.path, { ...SETTINGS, seed: Date.now() & 0xffff })
  if (LONG) process.stderr.write(`${JSON.stringify(figures)}\n`)
  expect(figures.wrong).toEqual([])
  expect(figures.acts).toBeGreaterThan(processes)
  expect(figures.kills).toBeGreaterThan(0)
  expect(figures.answersCompared).toBeGreaterThan(0)
})
