/** Bodies of `querent peers …`. */
import type { CommonFlags } from '../flags.ts'
import * as render from '../render/peers.ts'
import type { Cli } from '../run.ts'
import { show } from './beliefs-call.ts'

export interface PeerFlags extends CommonFlags {
  readonly id?: string
  readonly did?: string
  readonly network?: boolean
  readonly federation?: readonly string[]
  readonly listed?: boolean
}

export async function runPeerAdd(cli: Cli, address: string, flags: PeerFlags): Promise<void> {
  const { id, did, network, federation, listed } = flags
  const input = {
    address,
    ...(id !== undefined && { id }),
    ...(did !== undefined && { did }),
    ...(network !== undefined && { network }),
    ...(federation !== undefined && { federations: federation }),
    ...(listed !== undefined && { listed }),
  }
  await show(cli, flags, 'peers.add', input, render.addedText)
}

export async function runPeerList(cli: Cli, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'peers.list', {}, ({ peers }: { peers: render.Peer[] }, style) =>
    render.peersText(peers, style),
  )
}

export async function runPeerProbe(cli: Cli, id: string | undefined, flags: CommonFlags): Promise<void> {
  const input = id === undefined ? {} : { id }
  await show(cli, flags, 'peers.probe', input, ({ probes }: { probes: render.Probe[] }, style) =>
    render.probesText(probes, style),
  )
}

export async function runPeerDiscover(cli: Cli, id: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'peers.discover', { id }, ({ proposed }: { proposed: render.Proposed[] }, style) =>
    render.proposedText(proposed, style),
  )
}

export async function runPeerRemove(cli: Cli, id: string, flags: CommonFlags): Promise<void> {
  await show(cli, flags, 'peers.remove', { id }, ({ removed }: { removed: boolean }) =>
    removed ? `${id} is asked no more\n` : `there was no peer ${id}\n`,
  )
}
