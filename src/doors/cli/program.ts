/** The command line: every command with its options and examples. Bodies are loaded when a command runs. */

import { type Argument, Command } from 'commander'
import { VERSION } from '../../engine/version.ts'
import { AGENTS_GROUPS } from './agents-commands.ts'
import { defineBeliefsCommands } from './beliefs-commands.ts'
import { defineChromaCommands } from './chroma-commands.ts'
import { defineAdminCommands } from './define-admin.ts'
import { defineBrief } from './define-assistants.ts'
import { defineC64Command } from './define-c64.ts'
import { defineCollectionsCommands } from './define-collections.ts'
import { defineContextCommands } from './define-context.ts'
import { defineDoorCommands } from './define-doors.ts'
import { defineStoreCommands } from './define-store.ts'
import { withFormat, withPlace } from './flags.ts'
import { write } from './io.ts'
import { MAIN_COMMANDS } from './main-commands.ts'
import { addGroup, addOperationCommand, fillCommand, takesFlags } from './operation-command.ts'
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
    // What stands before a command is the program's: `runs` hands it on to the command.
    .enablePositionalOptions()
    .hook('preSubcommand', (_, chosen) => fillCommand(chosen))
    .configureHelp({ subcommandTerm: termOf })
  withFormat(withPlace(program))
  for (const entry of MAIN_COMMANDS) addOperationCommand(program, cli, entry)
  defineStoreCommands(program, cli)
  defineChromaCommands(program, cli)
  defineCollectionsCommands(program, cli)
  defineC64Command(program, cli)
  defineContextCommands(program, cli)
  defineBeliefsCommands(program, cli)
  for (const group of AGENTS_GROUPS) addGroup(program, cli, group)
  defineAdminCommands(program, cli)
  defineDoorCommands(program, cli)
  defineBrief(program, cli)
  return program
}

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
