// `npm run kill -- [times] [seed]`: kills processes of every kind (engines at work, the lenses, first openings) so many
// times in all (default 200), two at a time, and says what was lost. Ends with 1 if anything was. About a second a kill.
import { rmSync } from 'node:fs'
import { type Killed, killEverything } from '../test/faults/kill-everything.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { keepCompiledCode } from './compiled-code.ts'

const [times = '200', seed = '1'] = process.argv.slice(2)
const folder = tempFolder()
keepCompiledCode(folder.file('code'))
const killed = await killEverything(folder.path, Number(times), Number(seed), report)
rmSync(folder.path, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify({ ...Object.fromEntries(killed.figures), wrong: killed.wrong }, null, 2)}\n`)
process.exitCode = killed.wrong.length === 0 ? 0 : 1

function report({ figures, wrong }: Killed): void {
  const kills = [...figures.values()].reduce((sum, one) => sum + one.kills, 0)
  process.stderr.write(`${kills} kills, ${wrong.length} wrong\n`)
}
