/**
 * Every target with its good inputs, with those kept from long runs, and with some hundred changed ones. What is looked for,
 * and how long it was looked for, is in docs/testing/faults.md; `npm run fuzz -- 60` goes on, guided by coverage.
 */
import { expect, it } from 'vitest'
import { readCorpus } from './engine/corpus.ts'
import { fuzz } from './engine/fuzz.ts'
import { TARGETS } from './targets.ts'

const SEED = 1
/** Inputs, a quarter of them changed ones at least: many where one costs a part of a millisecond. */
const MANY = 400
const SOME = 200
const FEW = 50
const COUNTS: Readonly<Record<string, number>> = {
  ...{ operations: SOME, http: SOME, tokens: SOME, transfer: FEW },
  // A store on a disk, a command or a round to another process each.
  ...{ settings: FEW, command: FEW, mcp: FEW },
}

it.each(Object.keys(TARGETS))('%s: nothing breaks, hangs, leaks or is left half done', async name => {
  const target = await TARGETS[name]?.()
  if (target === undefined) throw new Error(`no target ${name}`)
  const most = COUNTS[name] ?? MANY
  const corpus = readCorpus(target).slice(0, most / 4)
  const seeds = target.seeds.slice(0, most / 2)
  const { inputs, findings } = await fuzz({ ...target, seeds }, { seed: SEED, corpus, goesOn: tried => tried < most })
  expect(findings).toEqual([])
  expect(inputs).toBe(most)
})
