/** Inputs kept from earlier runs: one file a target, one input a line. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Json } from '../../../src/base/canonical.ts'
import type { Fuzzed } from './fuzz.ts'
import type { Target } from './target.ts'

export const CORPUS: string = fileURLToPath(new URL('../corpus', import.meta.url))

export function readCorpus<Input>(target: Target<Input>, folder: string = CORPUS): readonly Input[] {
  const path = join(folder, `${target.name}.jsonl`)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
  return lines.map(line => target.kind.read(JSON.parse(line) as Json))
}

/** Those that bring most features first, as long as they are short and together fill no more than `bytes`. */
export function writeCorpus<Input>(target: Target<Input>, fuzzed: Fuzzed<Input>, folder: string, bytes: number): void {
  const lines = fuzzed.kept
    .map(({ input, features }) => ({ line: `${JSON.stringify(target.kind.write(input))}\n`, count: features.length }))
    .filter(({ line }) => line.length <= bytes / 20)
    .sort((a, b) => b.count / b.line.length - a.count / a.line.length)
  let text = ''
  for (const { line } of lines) if (text.length + line.length <= bytes) text += line
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${target.name}.jsonl`), text)
}
