/** `querent beliefs …`: what is asked in words and by filters. */
import { type Command, Option } from 'commander'
import type { ContextFlags } from './commands/beliefs.ts'
import type { BeliefQueryFlags } from './commands/beliefs-input.ts'
import type { Add, Run } from './define.ts'
import { type CommonFlags, collect, finiteNumber, withStream, wordsOf } from './flags.ts'
import type { Cli } from './run.ts'

export type RunBeliefs = Run<typeof import('./commands/beliefs.ts')>

export function withScope(command: Command): Command {
  return command
    .option('--local', 'only your own beliefs, and those of the other scopes that are named')
    .option('--federated', 'only what is shared with your federations, likewise')
    .option('--network', 'only what is public, likewise (default: all three)')
}

/** No option here has a short form, and unknown ones are left to `wordsOf`: `-word` is part of a question. */
export function withQuery(command: Command): Command {
  return withScope(command)
    .allowUnknownOption()
    .option(
      '--filter <what>',
      'a preset (high_confidence, recent, verified, from_trusted) or JSON (repeatable)',
      collect,
    )
    .option('--domain <path>', 'only in this domain, such as science/biology (repeatable)', collect)
    .option('--min-confidence <number>', 'only with at least this overall confidence', finiteNumber)
    .option('--about <domain>', 'whose trust by domain counts (repeatable)', collect)
    .option('--trust-weight <number>', 'how much trust counts, 0 to 1 (default 0.5)', finiteNumber)
    .option('--context <json>', 'more of the context, such as {"max_trust_hops": 2}')
    .option('--options <json>', 'more of the options, such as {"diversity": {"enabled": true, "max_per_holder": 2}}')
}

function withPage(command: Command): Command {
  return command
    .option('--limit <number>', 'how many at most (default 20)', finiteNumber)
    .option('--offset <number>', 'leave out so many first', finiteNumber)
    .option('--cursor <text>', 'go on where the last page ended')
    .option('--diverse', 'rather different ones than many that say the same')
}

export function defineBeliefQueries(add: Add, run: RunBeliefs, cli: Cli): void {
  const query = withStream(
    withPage(
      withQuery(
        add('query [words...]', 'find beliefs for a question; without words, all that the filters let through', [
          ['querent beliefs query "climate change" --local', 'among your own'],
          ['querent beliefs query vaccines +trial -cancer --viewer ann', 'as ann; near "trial", far from "cancer"'],
          ['querent beliefs query --filter recent --domain medical', 'a list, without a question'],
          ['querent beliefs query --limit 500 --stream --domain medical', 'belief by belief, as JSON lines'],
        ]),
      ),
    ),
  )
    .option('--explain', 'say why each has its place')
    .option('--derivation', 'show what each was derived from')
    .option('--dry-run', 'count as no use of trust')
  run<[readonly string[]], BeliefQueryFlags>(query, (commands, words, flags) =>
    commands.runQuery(cli, wordsOf(query, words), flags),
  )
  const explain = withQuery(
    add('explain <id> [words...]', 'say why a belief has its place in an answer, and what would lift it', [
      ['querent beliefs explain my-climate-rain climate', 'its parts, rank and hints'],
      ['querent beliefs explain a --over b climate', 'why a stands before b, or behind it'],
    ]),
  ).option('--over <id>', 'compare with this belief')
  run<[string, readonly string[]], BeliefQueryFlags & { over?: string }>(explain, (commands, id, words, flags) =>
    commands.runExplain(cli, id, wordsOf(explain, words), flags),
  )
  const count = withQuery(
    add('count [words...]', 'count what a query matches, in all and by scope', [
      ['querent beliefs count --domain medical', 'in a domain'],
    ]),
  )
  run<[readonly string[]], BeliefQueryFlags>(count, (commands, words, flags) =>
    commands.runCount(cli, wordsOf(count, words), flags),
  )
  const facets = withQuery(
    add('facets [words...]', 'count what a query matches by value', [
      ['querent beliefs facets --filter recent --field domains --field holder_id', 'two fields'],
    ]),
  ).requiredOption(
    '--field <name>',
    'domains, holder_id, derivation_type, visibility or confidence_bucket (repeatable)',
    collect,
  )
  run<[readonly string[]], BeliefQueryFlags & { field: readonly string[] }>(facets, (commands, words, flags) =>
    commands.runFacets(cli, wordsOf(facets, words), flags),
  )
  const batch = add('batch <file>', 'ask up to 20 queries, a JSON list; `-` reads standard input', [
    ['querent beliefs batch queries.json --json', 'each is answered, or fails, on its own'],
  ])
  run<[string], CommonFlags>(batch, (commands, file, flags) => commands.runBatch(cli, file, flags))

  const context = withQuery(
    add('context [words...]', 'gather beliefs for a purpose, as many as fit into so many tokens', [
      ['querent beliefs context "mRNA vaccines" --purpose verify --max-tokens 500', 'for a prompt'],
    ]),
  )
    .addOption(
      new Option('--purpose <name>', 'what it is for')
        .choices(['answer', 'verify', 'explore', 'decide', 'create'])
        .default('answer'),
    )
    .option('--max-tokens <number>', 'never more', finiteNumber, 1000)
    .option('--target-tokens <number>', 'what is aimed at', finiteNumber)
  run<[readonly string[]], ContextFlags>(context, (commands, words, flags) =>
    commands.runContext(cli, wordsOf(context, words), flags),
  )
}
