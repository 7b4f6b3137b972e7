/** The command line: every command with its options and examples. Bodies are loaded when a command runs. */

import { type Argument, Command } from 'commander'
import { VERSION } from '../../engine/version.ts'
import { withFormat, withPlace } from './flags.ts'
import { write } from './io.ts'
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
import type { Cli } from './run.ts'

export function makeProgram(cli: Cli): Command {
  const program = new Command('querent')
    .description('Ask what you know: a knowledge query engine for AI agents.')
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(add --help for help)')
    .exitOverride()
    .configureOutput({
      writeOut: text => void write(cli.io.stdout, text),
      writeErr: text => void write(cli.io.stderr, text),
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
    'what agents hold true: by meaning, confidence, trust in the holder, and time',
    async () => (await import('./beliefs-commands.ts')).BELIEFS,
  ],
  ['trust', 'whom you trust, how far, and in what', async () => (await agents()).TRUST],
  ['agents', 'agents that this node hosts', async () => (await agents()).AGENTS],
  ['federations', 'groups of agents that share beliefs', async () => (await agents()).FEDERATIONS],
  ['peers', 'other nodes that this one asks', async () => (await agents()).PEERS],
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
