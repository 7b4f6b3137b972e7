/**
 * One part of `bench/scale.ts` in a process of its own: `node --expose-gc bench/lib/scale/child.ts <part> <home>`. Works on
 * the home it is given, which is a copy, and prints what it measured as JSON.
 */
import { ask } from './ask.ts'
import { backup, doctor, rebuild } from './care.ts'
import { change } from './change.ts'
import type { Figure } from './figures.ts'
import { freshen, load } from './load.ts'

export type Part = 'freshen' | 'load' | 'ask' | 'change' | 'rebuild' | 'doctor' | 'backup'

const parts: Readonly<Record<Part, (home: string) => Promise<readonly Figure[]>>> = {
  freshen,
  load,
  ask,
  change,
  rebuild,
  doctor,
  backup,
}

const [part, home] = process.argv.slice(2)
if (part !== undefined && part in parts && home !== undefined) {
  console.log(JSON.stringify(await parts[part as Part](home)))
}
