/** `querent beliefs …`: what agents hold true, asked for and written. */
import type { Command } from 'commander'
import type { BeliefQueryFlags, LiveFlags } from './commands/beliefs-input.ts'
import { type Add, define, runsIn } from './define.ts'
import { defineAboutBelief } from './define-beliefs-about.ts'
import { defineBeliefQueries, type RunBeliefs, withQuery } from './define-beliefs-queries.ts'
import { defineBeliefWrites } from './define-beliefs-writes.ts'
import { type CommonFlags, finiteNumber, withFormat, withLive, withPlace, wordsOf } from './flags.ts'
import type { Cli } from './run.ts'

export function defineBeliefsCommands(program: Command, cli: Cli): void {
  const beliefs = program
    .command('beliefs')
    .description('what agents hold true: by meaning, confidence, trust in the holder, and time')
    .addHelpText(
      'after',
      '\nFirst steps:\n  querent beliefs sample\n  querent beliefs query --viewer my-agent-uuid climate\n',
    )
  const bare: Add = (name, what, examples) => withPlace(define(beliefs, name, what, examples))
  const add: Add = (name, what, examples) => withFormat(bare(name, what, examples))
  const run: RunBeliefs = runsIn(
    cli,
    () => import('./commands/beliefs.ts'),
    async body => (await import('./commands/beliefs-call.ts')).reportedWithCode(cli, body),
  )
  defineBeliefQueries(add, run, cli)
  defineWatch(bare, run, cli)
  defineAboutBelief(add, run, cli)
  defineBeliefWrites(add, run, cli)
  defineCare(add, run, cli)
}

function defineWatch(add: Add, run: RunBeliefs, cli: Cli): void {
  const watch = withChanges(
    withQuery(
      add('watch [words...]', 'tell what changes in the answer to a question, until Ctrl-C', [
        ['querent beliefs watch "climate change" --viewer ann', 'a line for each belief that comes, changes or goes'],
        ['querent beliefs watch --domain medical --no-initial --json', 'events as JSON lines, from now on'],
      ]),
    ),
  )
  run<[readonly string[]], BeliefQueryFlags & LiveFlags>(watch, (commands, words, flags) =>
    commands.runWatch(cli, wordsOf(watch, words), flags),
  )
}

function withChanges(command: Command): Command {
  return withLive(command)
    .option('--debounce <ms>', 'gather changes for so long, 0 to 60000 (default 1000)', finiteNumber)
    .option('--no-removals', 'do not show what leaves the answer')
    .option('--reranks', 'also show what only changes its rank')
    .option(
      '--max-events <number>',
      'at most so many a minute, 1 to 600 (default 60); the rest comes together',
      finiteNumber,
    )
    .option('--no-initial', 'do not show first what is in the answer now')
    .option('--resume <token>', 'go on after the event that had this token')
    .option('--limit <number>', 'watch the best so many (default 20)', finiteNumber)
}

function defineCare(add: Add, run: RunBeliefs, cli: Cli): void {
  const diagnostics = add('diagnostics', 'tell how + and - are calibrated and how much was asked; the owner may', [
    ['querent beliefs diagnostics --no-calibrate', 'without some seconds of calibrating'],
  ]).option('--no-calibrate', 'leave the calibration out')
  run<[], CommonFlags & { calibrate: boolean }>(diagnostics, (commands, flags) => commands.runDiagnostics(cli, flags))

  const sample = add('sample', 'load the sample: some 300 beliefs of 12 agents in three federations', [
    ['querent beliefs sample --home /tmp/try/.querent', 'into a store of its own'],
  ])
  run<[], CommonFlags>(sample, (commands, flags) => commands.runSample(cli, flags))
}
