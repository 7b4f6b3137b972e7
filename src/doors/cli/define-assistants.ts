/** What brings Querent to coding assistants: a briefing, and the server's entry in their configuration. */
import type { Command } from 'commander'
import { define, runs } from './define.ts'
import { type CommonFlags, collect, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

type Bodies = typeof import('./commands/mcp-install.ts')
type Flags = Parameters<Bodies['runMcpInstall']>[1]

export function defineBrief(program: Command, cli: Cli): void {
  const brief = define(program, 'brief', 'say in few words what is here and how to ask, for an assistant', [
    ['querent brief', 'fewer than 500 tokens'],
    ['querent brief --viewer ana', 'what the agent ana may see of it'],
  ])
  runs<[], CommonFlags>(withFormat(withPlace(brief)), cli, async flags => {
    await (await import('./commands/brief.ts')).runBrief(cli, flags)
  })
}

export function defineMcpInstall(mcp: Command, cli: Cli): void {
  const install = define(mcp, 'install', 'write the server into the configuration of assistants, after asking', [
    ['querent mcp install', 'every client that is found'],
    ['querent mcp install --client claude-code --yes', 'the project here, without asking'],
    ['querent mcp install --client cursor --lens context --print', 'only show what would change'],
  ])
  withChange(install)
    .option('--lens <name>', 'serve the tools of this lens (repeatable)', collect)
    .option('--tools <names>', 'serve these tools, with commas between (repeatable)', collect)
    .option('--npx', 'start the installed package with `npx --no-install` instead of this program')
    .option('--home <folder>', 'the store to serve (default: QUERENT_HOME, else .querent here or above)')
    .option('--viewer <name>', 'serve as this agent')
  runs<[], Flags>(install, cli, async flags => (await bodies()).runMcpInstall(cli, flags))

  const uninstall = define(mcp, 'uninstall', 'take the server out of the configuration of assistants', [
    ['querent mcp uninstall --yes', 'wherever it is found, without asking'],
  ])
  runs<[], Flags>(withChange(uninstall), cli, async flags => (await bodies()).runMcpUninstall(cli, flags))
}

function withChange(command: Command): Command {
  return withFormat(command)
    .option('--client <name>', 'only this client (repeatable); a wrong name lists those there are', collect)
    .option('--print', 'show what would change, and write nothing')
    .option('--yes', 'write without asking')
}

function bodies(): Promise<Bodies> {
  return import('./commands/mcp-install.ts')
}
