/**
 * Fuzzes one target in a process of its own, which it may bring down: `<target> <seconds> <seed> <folder>`. The input under
 * trial stands in `<folder>/<target>.trial`; the report comes last, as a message to the parent.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readCorpus, writeCorpus } from './engine/corpus.ts'
import { Coverage } from './engine/coverage.ts'
import { fuzz } from './engine/fuzz.ts'
import { TARGETS } from './targets.ts'

/** Of a kept corpus, so that the repository stays small. */
const CORPUS_BYTES = 12_000

const [name = '', seconds = '0', seed = '1', folder = '.'] = process.argv.slice(2)
const target = await TARGETS[name]?.()
if (target === undefined) throw new Error(`no target ${name}`)
const trial = openSync(join(folder, `${name}.trial`), 'w')
const end = performance.now() + Number(seconds) * 1000
using coverage = new Coverage()
const fuzzed = await fuzz(target, {
  seed: Number(seed),
  corpus: readCorpus(target),
  coverage,
  goesOn: () => performance.now() < end,
  before: input => {
    ftruncateSync(trial)
    writeSync(trial, JSON.stringify(target.kind.write(input)), 0)
  },
})
closeSync(trial)
writeCorpus(target, fuzzed, folder, CORPUS_BYTES)
const { inputs, features, findings } = fuzzed
process.send?.({ inputs, features, findings }, () => process.exit())
