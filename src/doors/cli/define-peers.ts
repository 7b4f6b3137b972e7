/** `querent peers …`: which other nodes are asked. */
import type { Command } from 'commander'
import type { PeerFlags } from './commands/peers.ts'
import { define, type Run, runsIn } from './define.ts'
import { type CommonFlags, collect, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function definePeersCommands(program: Command, cli: Cli): void {
  const run: Run<typeof import('./commands/peers.ts')> = runsIn(
    cli,
    () => import('./commands/peers.ts'),
    async body => (await import('./commands/beliefs-call.ts')).toldWithCode(cli, body),
  )
  const peers = program.command('peers').description('other nodes that this one asks')
  const placed = (name: string, what: string, examples: readonly (readonly [string, string])[]): Command =>
    withFormat(withPlace(define(peers, name, what, examples)))

  const add = placed('add <address>', 'add a node, or change what is known of it', [
    ['querent peers add https://node.example:7411', 'asked for public beliefs, under the key that it shows now'],
    ['querent peers add https://node.example:7411 --did did:key:z6Mk... --federation lab', 'asked by members of lab'],
  ])
    .option('--id <name>', 'what it is called here; default: its host and port')
    .option('--did <did:key>', 'its key; without it whoever answers at the address is believed this once')
    .option('--network', 'ask it for public beliefs')
    .option('--no-network', 'do not ask it for public beliefs')
    .option('--federation <id>', 'ask it for beliefs shared with this one (repeatable)', collect)
    .option('--listed', 'tell other nodes of it that ask')
    .option('--no-listed', 'tell nobody of it')
  run<[string], PeerFlags>(add, (commands, address, flags) => commands.runPeerAdd(cli, address, flags))

  const list = placed('list', 'list the nodes that are asked', [['querent peers list', 'and when they last answered']])
  run<[], CommonFlags>(list, (commands, flags) => commands.runPeerList(cli, flags))

  const probe = placed('probe [id]', 'ask nodes who they are: all, or one', [
    ['querent peers probe', 'which of them answer, how fast, and by which clock'],
  ])
  run<[string | undefined], CommonFlags>(probe, (commands, id, flags) => commands.runPeerProbe(cli, id, flags))

  const discover = placed('discover <id>', 'ask a node which others it knows; none is added', [
    ['querent peers discover node.example-7411', 'then: querent peers add'],
  ])
  run<[string], CommonFlags>(discover, (commands, id, flags) => commands.runPeerDiscover(cli, id, flags))

  const remove = placed('remove <id>', 'ask a node no more', [['querent peers remove node.example-7411', 'gone']])
  run<[string], CommonFlags>(remove, (commands, id, flags) => commands.runPeerRemove(cli, id, flags))
}
