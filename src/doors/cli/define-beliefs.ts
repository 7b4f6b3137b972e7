/** `querent beliefs …`: what agents hold true, asked for and written. */
import { type Command, Option } from 'commander'
import type { AboutFlags, ContextFlags } from './commands/beliefs.ts'
import type { BeliefFlags, BeliefQueryFlags } from './commands/beliefs-input.ts'
import type { LiveFlags } from './commands/watch.ts'
import { define, runs } from './define.ts'
import {
  type CommonFlags,
  collect,
  finiteNumber,
  withFormat,
  withLive,
  withPlace,
  withStream,
  wordsOf,
} from './flags.ts'
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
  const run = <Args extends readonly unknown[], Flags extends CommonFlags>(
    command: Command,
    body: (commands: typeof import('./commands/beliefs.ts'), ...args: [...Args, Flags]) => Promise<void>,
  ) =>
    runs<Args, Flags>(command, cli, async (...given) => {
      const { toldWithCode } = await import('./commands/beliefs-call.ts')
      await toldWithCode(cli, async () => body(await import('./commands/beliefs.ts'), ...given))
    })
  defineQueries(add, run, cli)
  defineWatch(bare, run, cli)
  defineAbout(add, run, cli)
  defineWrites(add, run, cli)
}

type Examples = Parameters<typeof define>[3]
type Add = (name: string, what: string, examples: Examples) => Command
type Run = <Args extends readonly unknown[], Flags extends CommonFlags>(
  command: Command,
  body: (commands: typeof import('./commands/beliefs.ts'), ...args: [...Args, Flags]) => Promise<void>,
) => void

function withScope(command: Command): Command {
  return command
    .option('--local', 'only your own beliefs, and those of the other scopes that are named')
    .option('--federated', 'only what is shared with your federations, likewise')
    .option('--network', 'only what is public, likewise (default: all three)')
}

/** No option here has a short form, and unknown ones are left to `wordsOf`: `-word` is part of a question. */
function withQuery(command: Command): Command {
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

function defineQueries(add: Add, run: Run, cli: Cli): void {
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

function defineWatch(add: Add, run: Run, cli: Cli): void {
  const watch = withLive(
    withQuery(
      add('watch [words...]', 'tell what changes in the answer to a question, until Ctrl-C', [
        ['querent beliefs watch "climate change" --viewer ann', 'a line for each belief that comes, changes or goes'],
        ['querent beliefs watch --domain medical --no-initial --json', 'events as JSON lines, from now on'],
      ]),
    ),
  ).option('--limit <number>', 'watch the best so many (default 20)', finiteNumber)
  run<[readonly string[]], BeliefQueryFlags & LiveFlags>(watch, (commands, words, flags) =>
    commands.runWatch(cli, wordsOf(watch, words), flags),
  )
}

function defineAbout(add: Add, run: Run, cli: Cli): void {
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

function defineWrites(add: Add, run: Run, cli: Cli): void {
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

  const diagnostics = add('diagnostics', 'tell how + and - are calibrated and how much was asked; the owner may', [
    ['querent beliefs diagnostics --no-calibrate', 'without some seconds of calibrating'],
  ]).option('--no-calibrate', 'leave the calibration out')
  run<[], CommonFlags & { calibrate: boolean }>(diagnostics, (commands, flags) => commands.runDiagnostics(cli, flags))

  const sample = add('sample', 'load the sample: some 300 beliefs of 12 agents in three federations', [
    ['querent beliefs sample --home /tmp/try/.querent', 'into a store of its own'],
  ])
  run<[], CommonFlags>(sample, (commands, flags) => commands.runSample(cli, flags))
}
