/** `querent context …`: the code of this folder as concepts, links and snippets. */
import { type Command, Option } from 'commander'
import type { ContextQueryFlags, IndexFlags } from './commands/context.ts'
import { define, runs } from './define.ts'
import { EXIT } from './failure.ts'
import { type CommonFlags, finiteNumber, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function defineContextCommands(program: Command, cli: Cli): void {
  const context = program
    .command('context')
    .description('code as concepts with their neighbours, files and links')
    .addHelpText('after', '\nFirst steps:\n  querent context index\n  querent context query authentication\n')
  const add: Add = (name, what, examples) =>
    withPlace(define(context, name, what, examples))
      .option('-j, --json', 'print the whole envelope')
      .exitOverride(error => {
        cli.usageExitCode = EXIT.failed
        throw error
      })
  const run = <Args extends readonly unknown[], Flags extends CommonFlags>(
    command: Command,
    body: (commands: typeof import('./commands/context.ts'), ...args: [...Args, Flags]) => Promise<void>,
  ) =>
    runs<Args, Flags>(command, cli, async (...given) => {
      if (cli.errors === 'json') cli.errors = 'json-aside'
      await body(await import('./commands/context.ts'), ...given)
    })
  defineIndex(add, run, cli)
  defineQuery(add, run, cli)
}

type Examples = Parameters<typeof define>[3]
type Add = (name: string, what: string, examples: Examples) => Command
type Run = <Args extends readonly unknown[], Flags extends CommonFlags>(
  command: Command,
  body: (commands: typeof import('./commands/context.ts'), ...args: [...Args, Flags]) => Promise<void>,
) => void

function defineIndex(add: Add, run: Run, cli: Cli): void {
  const index = add('index [folders...]', 'read the code of this folder, or what changed in it since', [
    ['querent context index', 'everything that .gitignore lets through'],
    ['querent context index src --no-wait', 'one folder; names and words answer at once'],
    ['querent context index --watch', 'and again whenever a file changes'],
  ])
    .option('--force', 'read unchanged files again')
    .option('--no-wait', 'do not wait for vectors')
    .option('--watch', 'go on until a signal ends it')
  run<[readonly string[]], IndexFlags>(index, (commands, folders, flags) => commands.runIndex(cli, folders, flags))
}

function defineQuery(add: Add, run: Run, cli: Cli): void {
  const query = add('query <words...>', 'find concepts for a question, with their neighbours, files and links', [
    ['querent context query authentication', 'by name and meaning'],
    ['querent context query -m exact -d 0 AuthService', 'by name alone, without neighbours'],
    ['querent context query "user login" --max-tokens 4000', 'with texts that fit into a prompt'],
  ])
    .option('-d, --depth <number>', 'steps along links, 0 to 2 (default 1)', finiteNumber)
    .option('-l, --limit <number>', 'concepts at most, 1 to 50 (default 10)', finiteNumber)
    .option('-m, --mode <name>', 'exact, semantic or hybrid (default hybrid)')
    .addOption(
      new Option('--rank <how>', 'order of neighbours')
        .choices(['breadth', 'weighted', 'closeness'])
        .default('closeness'),
    )
    .addOption(new Option('--snippet <what>', 'part of a file').choices(['head', 'passage']).default('passage'))
    .option('--explain', 'with --json: why each concept is there')
    .option('--max-tokens <number>', 'add texts of the concepts, as many as fit', finiteNumber)
  run<[readonly string[]], ContextQueryFlags>(query, (commands, words, flags) =>
    commands.runContextQuery(cli, words, flags),
  )
}
