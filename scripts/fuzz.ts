// `npm run fuzz -- [minutes] [target] [seed]`: tries all targets, or the one named, for so many minutes together (default
// 5). What is wrong is reported with the inputs that show it, and the end is 1. `--keep` puts the inputs that reached most code
// into test/fuzz/corpus, for later runs to begin with.
import { cpSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CORPUS } from '../test/fuzz/engine/corpus.ts'
import { type Figures, runTarget } from '../test/fuzz/run.ts'
import { TARGETS } from '../test/fuzz/targets.ts'
import { tempFolder } from '../test/support/temp-folder.ts'

const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true })
const [minutes = '5', only, seed = '1'] = positionals
const names = Object.keys(TARGETS).filter(name => only === undefined || only === 'all' || name === only)
if (names.length === 0) throw new Error(`no target ${only}; there are ${Object.keys(TARGETS).join(', ')}`)
const folder = tempFolder()
const seconds = (Number(minutes) * 60) / names.length
const all: Figures[] = []
for (const name of names) {
  const figures = await runTarget(name, { seconds, seed: Number(seed), folder: folder.path })
  all.push(figures)
  report(figures)
  const corpus = folder.file(`${name}.jsonl`)
  if (values.keep === true && figures.inputs > 0) cpSync(corpus, `${CORPUS}/${name}.jsonl`)
}
rmSync(folder.path, { recursive: true, force: true })
const sum = (of: (figures: Figures) => number) => all.reduce((total, figures) => total + of(figures), 0)
const findings = sum(figures => figures.findings.length)
process.stdout.write(`${all.length} targets, ${sum(figures => figures.inputs)} inputs, ${findings} findings\n`)
process.exitCode = findings === 0 ? 0 : 1

function report({ target, inputs, features, findings }: Figures): void {
  process.stdout.write(`${target}: ${inputs} inputs, ${features} features, ${findings.length} findings\n`)
  for (const { key, message, stack, inputs: shown } of findings) {
    process.stdout.write(
      `  ${key}\n  ${message.slice(0, 1000)}\n  inputs: ${JSON.stringify(shown).slice(0, 4000)}\n${stack}\n`,
    )
  }
}
