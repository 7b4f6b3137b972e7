/** `querent beliefs …`: what is asked about one belief, by its id. */
import type { AboutFlags } from './commands/beliefs.ts'
import type { BeliefQueryFlags } from './commands/beliefs-input.ts'
import type { Add } from './define.ts'
import { type RunBeliefs, withScope } from './define-beliefs-queries.ts'
import { collect, finiteNumber } from './flags.ts'
import type { Cli } from './run.ts'

export function defineAboutBelief(add: Add, run: RunBeliefs, cli: Cli): void {
  const get = add('get <id>', 'read one belief', [['querent beliefs get cd-warming', 'all of it']]).option(
    '--history',
    'older versions too',
  )
  run<[string], AboutFlags>(get, (commands, id, flags) => commands.runGet(cli, id, flags))

  const similar = withScope(
    add('similar <id>', 'find beliefs that say nearly the same', [
      ['querent beliefs similar cd-warming', 'by meaning'],
    ]),
  )
    .option('--limit <number>', 'how many at most (default 20)', finiteNumber)
    .option('--min-similarity <number>', 'cosine, -1 to 1 (default 0.7)', finiteNumber)
    .option('--same-holder', 'also those of its own holder')
  run<[string], AboutFlags>(similar, (commands, id, flags) => commands.runAbout(cli, 'similar', id, flags))

  const against = withScope(
    add('contradictions <id>', 'find beliefs that speak against one; heuristic', [
      ['querent beliefs contradictions br-no-dna', 'with the statements that are opposed'],
    ]),
  )
    .option('--limit <number>', 'how many at most (default 20)', finiteNumber)
    .option('--min-confidence <number>', 'only with at least this overall confidence', finiteNumber)
  run<[string], AboutFlags>(against, (commands, id, flags) => commands.runAbout(cli, 'contradictions', id, flags))

  const expand = withScope(
    add('expand <id>', 'give what surrounds a belief, as much as fits', [
      ['querent beliefs expand my-vaccine-dna --max-tokens 400 --include derivation', 'what it rests on'],
    ]),
  )
    .option('--include <what>', 'derivation, contradictions or similar (repeatable; default all)', collect)
    .option('--max-tokens <number>', 'never more', finiteNumber, 1000)
  run<[string], BeliefQueryFlags & { maxTokens: number; include?: readonly string[] }>(expand, (commands, id, flags) =>
    commands.runExpand(cli, id, flags),
  )
  const derivation = add('derivation <id>', 'show what a belief was derived from, step by step', [
    ['querent beliefs derivation my-climate-warming', 'as far as you may see'],
  ]).option('--max-depth <number>', 'steps, 1 to 10 (default 5)', finiteNumber)
  run<[string], AboutFlags>(derivation, (commands, id, flags) => commands.runDerivation(cli, id, flags))
}
