/** Indexes the code beside a home and tells how far it is, until it is killed. Started by kill-context.test.ts. */
import { openContext } from '../../src/openings/context.ts'

const [home] = process.argv.slice(2)
const sys = await openContext({ home, embedder: 'none', background: false })
await sys.call('/context/index', {}, ({ phase, current }) => process.stdout.write(`${phase} ${current}\n`))
process.stdout.write('done\n')
await sys.close()
