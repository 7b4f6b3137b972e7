/**
 * Runs one command line, from its arguments to the exit code. The code of a command is imported only when the command runs, because loading
 * code takes most of the time of a short command.
 */
import { type Argument, Command, CommanderError, Option } from 'commander'
import { VERSION } from '../../engine/home.ts'
import { worded } from '../../model/reported-error.ts'
import { OWN } from '../../ops/own-operations.ts'
import { withFormat, withPlace, withStream } from './flags.ts'
import {
  asQuerentError,
  type Cli,
  Endings,
  EXIT,
  exitCodeOf,
  failureText,
  type Io,
  type Servers,
  withErrorsAside,
  write,
  writeJson,
} from './io.ts'
import { MAIN_COMMANDS } from './main-commands.ts'
import {
  addCommands,
  addGroup,
  type CommandGroup,
  fillCommand,
  type OperationCommand,
  takesFlags,
} from './operation-command.ts'

// Builds the command-line program: every command with its options and examples.

export function makeProgram(cli: Cli): Command {
  const program = new Command('querent')
    .description('Ask what you know: a knowledge query engine for AI agents.')
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(add --help for help)')
    .exitOverride()
    .configureOutput({
      writeOut: text => void write(cli.io.stdout, text),
      writeErr: text => void write(cli.io.stderr, text),
      outputError: (text, writeTo) => writeTo(text.replace(/^error: /, 'querent: ')),
    })
    .addHelpText('after', FOOTER)
    // Options before a command's name belong to the whole program; they are passed on to the command when it runs.
    .enablePositionalOptions()
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
    .configureHelp({ subcommandTerm: termOf })
  withFormat(withPlace(program))
  const commands = [...MAIN_COMMANDS, ...STORE_COMMANDS, ...SEED_COMMANDS, ...SERVER_COMMANDS]
  addCommands(program, cli, { commands }, Object.values(OWN))
  for (const [name, about, load] of GROUPS) addGroup(program, cli, name, about, load)
  return program
}

const agents = () => import('./agents-commands.ts')

const GROUPS: readonly (readonly [name: string, about: string, load: () => Promise<CommandGroup>])[] = [
  [
    'chroma',
    'nodes in colour space: hashtags, queries by colour, living memory',
    async () => (await import('./chroma-commands.ts')).CHROMA,
  ],
  [
    'context',
    'code as concepts with their neighbours, files and links',
    async () => (await import('./context-commands.ts')).CONTEXT,
  ],
  [
    'beliefs',
    'what agents believe: by meaning, confidence, trust in the holder, and time',
    async () => (await import('./beliefs-commands.ts')).BELIEFS,
  ],
  ['trust', 'whom you trust, how far, and in which domains', async () => (await agents()).TRUST],
  ['agents', 'agents that this node hosts', async () => (await agents()).AGENTS],
  ['federations', 'groups of agents that share beliefs', async () => (await agents()).FEDERATIONS],
  ['peers', 'other nodes that this one queries', async () => (await agents()).PEERS],
  ['config', 'settings of the store, in config.json of its home', async () => ({ commands: CONFIG })],
  ['skills', 'files that teach assistants to use this command', async () => ({ commands: SKILLS })],
]

function termOf(command: Command): string {
  const args = command.registeredArguments.map(argumentText)
  return [command.name(), ...(takesFlags(command) ? ['[options]'] : []), ...args].join(' ')
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${name}>` : `[${name}]`
}

const FOOTER = `
Examples:
  querent add docs README.md
  querent query "how are results ranked"
  querent call query '{"text": "ranking", "limit": 3}'

Exit codes: 0 answered, 1 failed, 2 bad usage, 3 nothing relevant (with --fail-empty).
`

/** Runs the command line and resolves to the exit code; never rejects. `servers`: the servers that the commands `serve` and `mcp` start. */
export async function runCli(argv: readonly string[], servers: Servers, io: Io): Promise<number> {
  const endings = new Endings(io)
  const { signal } = endings
  const cli: Cli = {
    io,
    servers,
    signal,
    exitCode: EXIT.answered,
    usageExitCode: EXIT.usage,
    endsBySignal: false,
    errors: 'text',
  }
  try {
    // If the first word is a path, the command is `call`: `querent /context/query '{…}'` means `querent call /context/query '{…}'`.
    const words = argv[0]?.startsWith('/') ? ['call', ...argv] : argv
    const program = makeProgram(cli)
    await program.parseAsync(await withHelp(program, words), { from: 'user' })
    return endings.ending === null || cli.endsBySignal ? cli.exitCode : exitCodeOf(endings.ending)
  } catch (thrown) {
    if (endings.ending !== null) return exitCodeOf(endings.ending)
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.answered : cli.usageExitCode
    return await fail(cli, thrown)
  } finally {
    endings.stop()
  }
}

/**
 * `help beliefs query` as `beliefs query --help`. A word that no command has ends the words, without `--help`, so that it is reported: the
 * help of the command before it would hide the mistake.
 */
async function withHelp(program: Command, words: readonly string[]): Promise<readonly string[]> {
  const asked = words[0] === 'help' && words.length > 1 ? [...words.slice(1), '--help'] : words
  if (!asked.some(word => word === '--help' || word === '-h')) return asked
  let at = program
  for (const [i, word] of asked.entries()) {
    // The words behind a command without subcommands are its arguments.
    if (word.startsWith('-') || at.commands.length === 0) return asked
    const found = at.commands.find(command => command.name() === word || command.aliases().includes(word))
    if (found === undefined) return asked.slice(0, i + 1)
    await fillCommand(found)
    at = found
  }
  return asked
}

async function fail(cli: Cli, thrown: unknown): Promise<number> {
  const error = worded(asQuerentError(thrown), operation =>
    operation === 'chroma.suggest_hashtags' ? 'querent chroma suggest' : `querent call ${operation}`,
  )
  if (cli.errors === 'text') await write(cli.io.stderr, failureText(error))
  else await writeJson(cli.errors === 'json-aside' ? cli.io.stderr : cli.io.stdout, { error })
  if (cli.io.env['QUERENT_DEBUG'] && thrown instanceof Error) await write(cli.io.stderr, `${thrown.stack}\n`)
  return error.kind === 'usage' ? cli.usageExitCode : EXIT.failed
}

// Commands that do not call a catalog operation: the code of each is loaded when the command runs.

type Body = (cli: Cli, flags: never, words: never, made: Command) => Promise<void>

/** Makes a command whose function gets flags and words unchanged and handles all of them itself. */
function plain(load: () => Promise<Body>, entry: Omit<OperationCommand, 'run' | 'operation'>): OperationCommand {
  const run: OperationCommand['run'] = async (_input, flags, cli, words, made) =>
    (await load())(cli, flags as never, words as never, made)
  return { ...entry, operation: null, run }
}

export const STORE_COMMANDS: readonly OperationCommand[] = [
  plain(async () => (await import('./commands/care.ts')).runExport, {
    name: 'export [file]',
    examples: [
      'querent export --skip-damaged saved.jsonl  # what can be read of a damaged store; exit code 1 if that is not all',
    ],
    isFormless: true,
    options: {
      '--skip-damaged': 'skip what is damaged, and report what was lost',
      '--overwrite': 'replace the file if it is an earlier export',
    },
  }),
  plain(async () => (await import('./commands/care.ts')).runImport, {
    name: 'import [file]',
    examples: ['querent import backup.jsonl  # from a file', 'gunzip < backup.gz | querent import  # from a pipe'],
  }),
]

/**
 * Commands whose flags and exit codes are fixed by a separate specification for each of them, and not by the rules for the other commands.
 */
export const SEED_COMMANDS: readonly OperationCommand[] = [
  {
    name: 'collections [query...]',
    operation: 'collections.query',
    about: 'query several collections at once',
    examples: [
      'querent collections "servidores MCP" --days 7  # both collections, last week',
      'querent collections "MCP servers" --collection analysis --lang en  # one collection, in English',
      'querent collections "MCP servers" --url http://localhost:8000  # a ChromaDB server',
    ],
    isFormless: true,
    flags: { collections: null, store: null, timeout_ms: null },
    options: {
      '--collection <name>': 'items, analysis, both, or a collection from the configuration (default: both)',
      '--json': 'print the whole outcome as one JSON document',
      '--persist-directory <folder>': 'store to query; the same as --home',
      '--sample': 'query the sample that comes with Querent',
      '--url <address>': 'query a ChromaDB server (default: QUERENT_CHROMA_URL; token: QUERENT_CHROMA_TOKEN)',
      '--tenant <name>': 'tenant on the server (default: QUERENT_CHROMA_TENANT)',
      '--database <name>': 'database on the server (default: QUERENT_CHROMA_DATABASE)',
      '--urls': 'show the address of each source',
    },
    more: made => {
      const help = 'language of the answer; auto: en for a query in English, otherwise es (default: auto)'
      return made.addOption(new Option('--lang <language>', help).choices(['auto', 'es', 'en']))
    },
    around: async (cli, body) => (await import('./commands/collections.ts')).reportedInALine(cli, body),
    run: async ({ query = '' }, flags, cli) =>
      (await import('./commands/collections.ts')).runCollections(cli, String(query), flags),
  },
  {
    name: 'c64 [words...]',
    operation: null,
    about: 'query facts about the Commodore 64, with numbers and names resolved',
    examples: [
      'querent c64 "What does POKE 53280, 14 do?"  # facts as Markdown, the best 15',
      'querent c64 --enrich-only SYS 64738  # what numbers and names mean',
    ],
    isFormless: true,
    hasOneExitCode: true,
    schema: async () => (await import('../../openings/c64.ts')).c64SettingsSchema,
    flags: { collection: null, qdrant_public: null, embedding_url: null, timeout_ms: null },
    options: {
      '--raw': 'search the query as it is, by meaning',
      '--enrich-only': 'print the enriched query, its tags and the mode without searching',
      '--json': 'print the whole result as one JSON document',
      '--embed': 'embed the facts of this store first, once',
    },
    // A question may begin with a hyphen, so unknown flags are let through here; the command reports them itself, with its own exit code.
    more: made => made.allowUnknownOption(),
    around: withErrorsAside,
    run: async (input, flags, cli, [words], made) =>
      (await import('./commands/c64.ts')).runC64(
        cli,
        (words as readonly string[]).join(' ').trim(),
        input,
        flags,
        made,
      ),
  },
]

const CHANGE = {
  '--client <name...>': 'only this client (repeatable); an unknown name lists all clients',
  '--print': 'show the changes and write nothing',
  '--yes': 'write without asking',
}

const TOOLS = {
  '--lens <name...>': 'serve the tools of this lens (repeatable)',
  '--tools <names...>': 'serve these tools, separated by commas (repeatable)',
}

export const SERVER_COMMANDS: readonly OperationCommand[] = [
  {
    name: 'serve [paths...]',
    operation: null,
    about: 'add files and folders, then serve them over HTTP',
    examples: [
      'querent serve notes --open  # add a folder and open it in the browser',
      'querent serve --host 0.0.0.0 --tokens tokens.json  # tokens.json: {"<token>": "<viewer>"}',
      'querent serve --socket ~/querent.sock  # on a shared machine: this user only',
      'querent serve --workers 4 --log text  # four processes, one log line per request',
    ],
    isFormless: true,
    schema: cli => cli.servers.httpSettings(),
    flags: { cors: 'cors' },
    options: {
      '--open': 'open the page in the default browser',
      '--collection <name>': 'the collection to add the paths to',
      '--tokens <file>': 'JSON file mapping bearer tokens to viewers; implies --require-token',
      '--workers <number>': 'processes that share port, store and limits (default: 1)',
      '--log-queries <days>': 'log the text of beliefs queries, kept for this many days',
    },
    more: made => {
      made.options.find(({ long }) => long === '--socket')?.conflicts(['port', 'host', 'open', 'workers'])
      const log = new Option('--log [form]', 'log requests to standard error, one line each; without a form: json')
      return made.addOption(log.choices(['json', 'text', 'off']).preset('json'))
    },
    run: async (input, flags, cli, [paths]) =>
      (await import('./commands/serve.ts')).runServe(cli, flags, input, paths as readonly string[]),
  },
  plain(async () => (await import('./commands/serve.ts')).runMcp, {
    name: 'mcp',
    about: 'serve MCP on standard input and output',
    examples: [
      'querent mcp --lens chroma --lens beliefs  # with the tools of these lenses',
      'querent mcp --tools query,get,context_callers  # with these tools alone',
      'querent mcp --lens chroma --list-tools  # which tools those are, and the tokens of each',
    ],
    options: { ...TOOLS, '--list-tools': 'print the tools with the tokens of each, and serve nothing' },
    more: made => {
      const detail = new Option('--detail <form>', 'form of answers for calls that do not name one').default('detailed')
      return made.addOption(detail.choices(['concise', 'detailed']))
    },
    children: [
      plain(async () => (await import('./commands/mcp-install.ts')).runMcpInstall, {
        name: 'install',
        about: 'add the server to the configuration of assistants, after confirmation',
        examples: [
          'querent mcp install --client claude-code --yes  # the project here, without asking',
          'querent mcp install --client cursor --lens context --print  # only show what would change',
        ],
        isPlaceless: true,
        options: {
          ...CHANGE,
          ...TOOLS,
          '--npx': 'start the installed package with `npx --no-install` instead of this program',
          '--home <folder>': 'the store to serve (default: QUERENT_HOME, else .querent here or above)',
          '--viewer <name>': 'serve as this agent',
        },
      }),
      plain(async () => (await import('./commands/mcp-install.ts')).runMcpInstall, {
        name: 'uninstall',
        about: 'remove the server from the configuration of assistants',
        isPlaceless: true,
        options: CHANGE,
      }),
    ],
  }),
  plain(async () => (await import('./commands/call.ts')).runCall, {
    name: 'call [operation] [input]',
    about: 'run any operation by name: JSON in, JSON out',
    examples: [
      'querent call query \'{"text": "decay"}\'  # input as JSON',
      `querent call put '{"entries": [{"content": "Backups are restored on Sundays."}]}'  # write an entry`,
      'querent call query @question.json  # input from a file',
      'querent call export --stream  # one line per piece, for operations that can stream',
      'echo \'{"text": "decay"}\' | querent call query  # input from a pipe (or `-`)',
    ],
    isFormless: true,
    more: made => withStream(made).helpOption(false).option('-h, --help', 'show this help, with every operation'),
  }),
  plain(async () => (await import('./commands/completion.ts')).runCompletion, {
    name: 'completion <shell>',
    about: 'print a completion script for bash, zsh or fish',
    examples: ['eval "$(querent completion bash)"  # in this shell; in ~/.bashrc in every one'],
    isPlaceless: true,
    isFormless: true,
    more: made => {
      made.registeredArguments[0]?.choices(['bash', 'zsh', 'fish'])
      return made
    },
  }),
]

const setting = async () => (await import('./commands/config.ts')).setSetting

export const CONFIG: readonly OperationCommand[] = [
  plain(async () => (await import('./commands/config.ts')).getSetting, {
    name: 'get <name>',
    about: 'print one setting',
  }),
  plain(setting, {
    name: 'set <name> <value>',
    about: 'change one setting; invalid values are not written',
    examples: [
      'querent config set durability full  # a text',
      `querent config set embedder '{"provider": "none"}'  # JSON`,
    ],
  }),
  plain(setting, { name: 'unset <name>', about: 'remove one setting, so that its default applies' }),
  plain(async () => (await import('./commands/config.ts')).listSettings, {
    name: 'list',
    about: 'list all settings with their values in config.json and their defaults',
  }),
]

export const SKILLS: readonly OperationCommand[] = [
  plain(async () => (await import('./commands/skills.ts')).runInstall, {
    name: 'install',
    about: 'install the skill chroma-query and the agent chroma-agent in a project',
    examples: [
      'querent skills install --dir ../project --lang en  # in another project, in English',
      'querent skills install --lens c64  # the command query-c64',
    ],
    isPlaceless: true,
    options: { '--force': 'overwrite files that were changed' },
    more: made =>
      made
        .option('--dir <folder>', "the project's folder", '.')
        .addOption(new Option('--lens <name>', 'that they ask').choices(['collections', 'c64']).default('collections'))
        .addOption(new Option('--lang <language>', 'of the files').choices(['es', 'en']).default('es')),
  }),
]
