/** `querent peers …`: the other nodes that questions go to. */
import type { Command } from 'commander'
import type { PeerFlags } from './commands/peers.ts'
import { type Add, define, runsIn } from './define.ts'
import { type CommonFlags, collect, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function definePeersCommands(program: Command, cli: Cli): void {
  const run = runsIn(
    cli,
    () => import('./commands/peers.ts'),
    async body => (await import('./commands/beliefs-call.ts')).toldWithCode(cli, body),
  )
  const peers = program.command('peers').description('other nodes that questions about beliefs go to')
  const addCommand: Add = (name, what, examples) => withFormat(withPlace(define(peers, name, what, examples)))

  const add = addCommand('add <address>', 'add a node, or change what it is asked for', [
    ['querent peers add https://node.example:8787', 'for public beliefs; its key is kept from now on'],
    ['querent peers add http://10.0.0.7:8787 --id lab --federation lab', 'for what its federation shares'],
  ])
    .option('--id <name>', 'what to call it (default: its host and port)')
    .option('--did <did:key>', 'its key (default: the one that it says it has)')
    .option('--federation <id>', 'ask it for what is shared with this federation (repeatable)', collect)
    .option('--network', 'ask it for public beliefs (default where no federation is named)')
  run<[string], PeerFlags>(add, (commands, address, flags) => commands.runAdd(cli, address, flags))

  const list = addCommand('list', 'list the nodes, and how they are doing', [['querent peers list', 'all of them']])
  run<[], CommonFlags>(list, (commands, flags) => commands.runList(cli, flags))

  const probe = addCommand('probe [id]', 'ask nodes who they are, and whether their clocks agree with this one', [
    ['querent peers probe lab', 'one of them'],
  ])
  run<[string | undefined], CommonFlags>(probe, (commands, id, flags) => commands.runProbe(cli, id, flags))

  const remove = addCommand('remove <id>', 'ask a node no more', [['querent peers remove lab', 'it is forgotten']])
  run<[string], CommonFlags>(remove, (commands, id, flags) => commands.runRemove(cli, id, flags))
}
