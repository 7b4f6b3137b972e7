/**
 * Property tests draw the same cases in each run, so that a run that others wait for does not fail by chance. Long forms
 * (QUERENT_LONG=1) draw new ones; QUERENT_SEED=N repeats the cases of a seed that a failure named.
 */
import fc from 'fast-check'

const FIXED_SEED = 20_261_127

const { QUERENT_SEED: given, QUERENT_LONG: isLong } = process.env
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) })
else if (isLong !== '1') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: FIXED_SEED })
