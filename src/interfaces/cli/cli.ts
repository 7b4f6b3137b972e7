/**
 * Runs one command line from argv to exit code. Commands are described in `program.ts` and its neighbours; their bodies
 * are loaded when they run, because most of a short command's time is loading.
 */
import { type Argument, Command, CommanderError } from 'commander'
import { VERSION } from '../../engine/version.ts'
import { worded } from '../../model/reported-error.ts'
import { withFormat, withPlace } from './flags.ts'
import {
  asQuerentError,
  type Cli,
  Endings,
  EXIT,
  exitCodeOf,
  failureText,
  type Io,
  type Servers,
  write,
  writeJson,
} from './io.ts'
import { MAIN_COMMANDS } from './main-commands.ts'
import {
  addCommands,
  addGroup,
  type CommandGroup,
  fillCommand,
  OWN_OPERATIONS,
  takesFlags,
} from './operation-command.ts'
import { CONFIG, SEED_COMMANDS, SERVER_COMMANDS, SKILLS, STORE_COMMANDS } from './program-commands.ts'

// The command line: every command with its options and examples. Bodies are loaded when a command runs.

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
    // What is before a command is the program's: `runs` hands it on to the command.
    .enablePositionalOptions()
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
    .configureHelp({ subcommandTerm: termOf })
  withFormat(withPlace(program))
  const commands = [...MAIN_COMMANDS, ...STORE_COMMANDS, ...SEED_COMMANDS, ...SERVER_COMMANDS]
  addCommands(program, cli, { commands }, OWN_OPERATIONS)
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

/** Resolves to the exit code; never rejects. `servers` are those that `serve` and `mcp` open. */
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
    // A path is called: `querent /context/query '{…}'`.
    const words = argv[0]?.startsWith('/') ? ['call', ...argv] : argv
    await makeProgram(cli).parseAsync(words, { from: 'user' })
    return endings.ending === null || cli.endsBySignal ? cli.exitCode : exitCodeOf(endings.ending)
  } catch (thrown) {
    if (endings.ending !== null) return exitCodeOf(endings.ending)
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.answered : cli.usageExitCode
    return await fail(cli, thrown)
  } finally {
    endings.stop()
  }
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
