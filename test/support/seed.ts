/**
 * Before every file. Programs that tests start compile their modules once: that is most of the time such a program takes to start.
 *
 * Property tests draw the same cases in each run, so that a run that others wait for does not fail by chance. Long forms
 * (QUERENT_LONG=1) draw new ones; QUERENT_SEED=N repeats the cases of a seed that a failure named.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'

process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), `querent-tests-compiled-${process.getuid?.() ?? 0}`)

const FIXED_SEED = 20_261_127

const { QUERENT_SEED: given, QUERENT_LONG: isLong } = process.env
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) })
else if (isLong !== '1') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: FIXED_SEED })
