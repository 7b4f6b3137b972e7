// `npm run processes -- [minutes] [processes] [seed]`: several processes (default 8) at once on one store for so long
// (default 10), some of them killed all the while, and says what was lost or answered wrongly. Ends with 1 if anything was.
import { rmSync } from 'node:fs'
import { runMany } from '../test/faults/many-processes.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { keepCompiledCode } from './compiled-code.ts'

const [minutes = '10', processes = '8', seed = '1'] = process.argv.slice(2)
const folder = tempFolder()
keepCompiledCode(folder.file('code'))
const figures = await runMany(folder.path, {
  ...{ processes: Number(processes), ms: Number(minutes) * 60_000, seed: Number(seed) },
  ...{ killEveryMs: 4_000, compareEveryMs: 60_000 },
})
rmSync(folder.path, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
process.exitCode = figures.wrong.length === 0 ? 0 : 1
