// `npm run kill -- [times] [seed]`: kills an engine at work so many times (default 200) and says what was lost. Ends with
// 1 if anything was. About three seconds a kill.
import { rmSync } from 'node:fs'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { type KillFigures, killAgainAndAgain } from '../test/faults/kill-engine.ts'

const LIFE_MS = 2_000
const [times = '200', seed = '1'] = process.argv.slice(2)
const folder = tempFolder()
const figures = await killAgainAndAgain(folder.path, Number(times), LIFE_MS, Number(seed), told)
rmSync(folder.path, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
process.exitCode = figures.wrong.length === 0 ? 0 : 1

function told({ kills, acts, wrong }: KillFigures): void {
  if (kills % 10 === 0) process.stderr.write(`${kills} kills, ${acts} acts, ${wrong.length} wrong\n`)
}
