/** `querent context …`: the code of this folder as concepts, links and snippets. */
import { type Command, Option } from 'commander'
import type { ContextQueryFlags, IndexFlags, QuestionFlags } from './commands/context.ts'
import { type Add, define, type Run, runsIn, withOneExitCode } from './define.ts'
import { finiteNumber, withPlace } from './flags.ts'
import { type Cli, tellAside } from './run.ts'

export function defineContextCommands(program: Command, cli: Cli): void {
  const context = program
    .command('context')
    .description('code as concepts with their neighbours, files and links')
    .addHelpText('after', '\nFirst steps:\n  querent context index\n  querent context query authentication\n')
  const add: Add = (name, what, examples) => {
    const command = withPlace(define(context, name, what, examples))
    return withOneExitCode(command.option('-j, --json', 'print the whole envelope'), cli)
  }
  const run: RunContext = runsIn(
    cli,
    () => import('./commands/context.ts'),
    body => {
      tellAside(cli)
      return body()
    },
  )
  defineIndex(add, run, cli)
  defineQuery(add, run, cli)
  defineQuestions(add, run, cli)
}

type RunContext = Run<typeof import('./commands/context.ts')>

function defineIndex(add: Add, run: RunContext, cli: Cli): void {
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

function defineQuery(add: Add, run: RunContext, cli: Cli): void {
  const query = add('query <words...>', 'find concepts for a question, with their neighbours, files and links', [
    ['querent context query authentication', 'by name and meaning'],
    ['querent context query -m exact -d 0 AuthService', 'by name alone, without neighbours'],
    ['querent context query "user login" --max-tokens 4000', 'with texts that fit into a prompt'],
  ])
    .option('-d, --depth <number>', 'steps along links, 0 to 2 (default 1)', finiteNumber)
    .option('-l, --limit <number>', 'concepts at most, 1 to 50 (default 10)', finiteNumber)
    .option('-m, --mode <name>', 'exact, semantic or hybrid (default hybrid)')
    .addOption(
      new Option('--rank <how>', 'order of neighbours; relevance orders the matches too')
        .choices(['relevance', 'closeness', 'weighted', 'breadth'])
        .default('relevance'),
    )
    .addOption(new Option('--snippet <what>', 'part of a file').choices(['head', 'passage']).default('passage'))
    .option('--explain', 'with --json: why each concept is there')
    .option('--max-tokens <number>', 'add texts of the concepts, as many as fit', finiteNumber)
  run<[readonly string[]], ContextQueryFlags>(query, (commands, words, flags) =>
    commands.runContextQuery(cli, words, flags),
  )
}

function defineQuestions(add: Add, run: RunContext, cli: Cli): void {
  const symbols = [
    ['definition', 'show where a name is defined, and its text'],
    ['references', 'list what refers to a name, and how'],
    ['callers', 'list what calls a function, directly or through others'],
  ] as const
  for (const [name, what] of symbols) {
    const command = add(`${name} <name>`, what, [
      [`querent context ${name} LoginService.login`, 'a name, a part of one, or an id'],
    ]).option('-l, --limit <number>', 'how many at most', finiteNumber)
    if (name === 'callers') command.option('-d, --depth <number>', 'calls in a row, 1 to 5', finiteNumber)
    if (name === 'references') command.option('--relation <name>', 'only these, such as CALLS')
    run<[string], QuestionFlags>(command, (commands, symbol, flags) => commands.runSymbol(cli, name, symbol, flags))
  }
  const impact = add('impact [files...]', 'tell what changed files, or a diff, touch', [
    ['querent context impact src/login.ts', 'what depends on the file'],
    ['git diff | querent context impact --diff -', 'on the lines that changed'],
  ])
    .option('--diff <file>', 'a unified diff against what is indexed; `-` reads standard input')
    .option('-d, --depth <number>', 'links in a row, 1 to 5', finiteNumber)
    .option('-l, --limit <number>', 'how many at most', finiteNumber)
  run<[readonly string[]], QuestionFlags>(impact, (commands, files, flags) => commands.runImpact(cli, files, flags))

  const map = add('map [folder]', 'give an overview of the code: its most used symbols by file', [
    ['querent context map --max-tokens 1000', 'as much as fits'],
  ]).option('--max-tokens <number>', 'how long at most (default 2000)', finiteNumber)
  run<[string | undefined], QuestionFlags>(map, (commands, folder, flags) => commands.runMap(cli, folder, flags))
}
