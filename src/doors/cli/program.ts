/** The command line: every command with its options and examples. Bodies are loaded when a command runs. */

import { Command } from 'commander'
import { VERSION } from '../../engine/version.ts'
import { defineAdminCommands } from './define-admin.ts'
import { defineAgentsCommands } from './define-agents.ts'
import { defineAskCommands } from './define-ask.ts'
import { defineBrief } from './define-assistants.ts'
import { defineBeliefsCommands } from './define-beliefs.ts'
import { defineC64Command } from './define-c64.ts'
import { defineChromaCommands } from './define-chroma.ts'
import { defineCollectionsCommands } from './define-collections.ts'
import { defineContextCommands } from './define-context.ts'
import { defineDoorCommands } from './define-doors.ts'
import { definePeersCommands } from './define-peers.ts'
import { defineStoreCommands } from './define-store.ts'
import { withFormat, withPlace } from './flags.ts'
import { write } from './io.ts'
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
  withFormat(withPlace(program))
  defineAskCommands(program, cli)
  defineStoreCommands(program, cli)
  defineChromaCommands(program, cli)
  defineCollectionsCommands(program, cli)
  defineC64Command(program, cli)
  defineContextCommands(program, cli)
  defineBeliefsCommands(program, cli)
  defineAgentsCommands(program, cli)
  definePeersCommands(program, cli)
  defineAdminCommands(program, cli)
  defineDoorCommands(program, cli)
  defineBrief(program, cli)
  return program
}

const FOOTER = `
Examples:
  querent add docs README.md
  querent query "how are results ranked"
  querent call query '{"text": "ranking", "limit": 3}'

Exit codes: 0 answered, 1 failed, 2 bad usage, 3 nothing relevant (with --fail-empty).
`
