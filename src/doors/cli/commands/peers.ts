/** Bodies of `querent peers …`. */
import type { CommonFlags } from '../flags.ts'
import { type Peer, type Probe, peersText, probesText } from '../render/peers.ts'
import type { Cli } from '../run.ts'
import { show } from './beliefs-call.ts'

export interface PeerFlags extends CommonFlags {
  readonly id?: string
  readonly did?: string
  readonly federation?: readonly string[]
  readonly network?: true
}

export async function runAdd(cli: Cli, address: string, flags: PeerFlags): Promise<void> {
  const { id, did, federation, network } = flags
  const input = {
    address,
    ...(id !== undefined && { id }),
    ...(did !== undefined && { did }),
    ...(federation !== undefined && { federations: federation }),
    ...(network && { network: true }),
  }
  await show(cli, flags, 'peers.add', input, ({ peer }: { peer: Peer }, style) => peersText([peer], style))
}

export async function runList(cli: Cli, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'peers.list', {}, ({ peers }: { peers: readonly Peer[] }, style) => peersText(peers, style))
}

export async function runProbe(cli: Cli, id: string | undefined, flags: CommonFlags): Promise<void> {
  const input = id === undefined ? {} : { id }
  await show(cli, flags, 'peers.probe', input, ({ probes }: { probes: readonly Probe[] }, style) =>
    probesText(probes, style),
  )
}

export async function runRemove(cli: Cli, id: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'peers.remove', { id }, ({ removed }: { removed: boolean }) =>
    removed ? `${id} is asked no more\n` : `there was no node ${id}\n`,
  )
}
