/** `querent beliefs …`: what the holder of beliefs does with them. */
import type { Command } from 'commander'
import type { BeliefFlags } from './commands/beliefs-input.ts'
import type { Add } from './define.ts'
import type { RunBeliefs } from './define-beliefs-queries.ts'
import { type CommonFlags, collect } from './flags.ts'
import type { Cli } from './run.ts'

function withBelief(command: Command): Command {
  return command
    .option('--id <text>', 'of the new version (made when left out)')
    .option('--domain <path>', 'such as science/biology (repeatable)', collect)
    .option('--visibility <level>', 'private, federated or public')
    .option('--federation <id>', 'share it with this federation (repeatable)', collect)
    .option('--confidence <json>', 'by dimension, such as {"method_quality": 0.9}')
    .option('--type <name>', 'how it was come by: observation, inference, hearsay, …')
    .option('--from <source>', 'what it rests on: the id of a belief, or an address (repeatable)', collect)
    .option('--valid-from <time>', 'ISO 8601 with its zone (default: now)')
    .option('--valid-until <time>', 'likewise, or never')
    .option('--no-wait', 'do not wait until it can be found by meaning')
}

export function defineBeliefWrites(add: Add, run: RunBeliefs, cli: Cli): void {
  const put = withBelief(
    add('put [content]', 'store a belief that you hold; `-` reads it from standard input', [
      ['querent beliefs put "Octopuses have three hearts." --domain science/biology', 'private'],
      ['querent beliefs put "…" --federation open-science --from my-note', 'shared, and what it rests on'],
      ['querent beliefs put --file beliefs.json', 'many, a JSON list: all of them or none'],
    ]),
  ).option('--file <path>', 'a JSON list of beliefs instead of one; `-` reads standard input')
  run<[string | undefined], BeliefFlags>(put, (commands, content, flags) => commands.runPut(cli, content, flags))

  const supersede = withBelief(
    add('supersede <id>', 'replace a belief of yours by a new version', [
      [
        'querent beliefs supersede my-note --content "Nine hundred houses." --type correction',
        'the old one stays in its history',
      ],
    ]),
  ).option('--content <text>', 'new content; `-` reads standard input')
  run<[string], BeliefFlags>(supersede, (commands, id, flags) => commands.runSupersede(cli, id, flags))

  const remove = add('delete <id>', 'delete a belief of yours', [
    ['querent beliefs delete my-note', 'its id stays taken'],
  ])
  run<[string], CommonFlags>(remove, (commands, id, flags) => commands.runDelete(cli, id, flags))
}
