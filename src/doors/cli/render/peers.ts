/** What the commands on other nodes print for people. */
import type { Style } from './style.ts'
import { textTable } from './table.ts'

export interface Peer {
  readonly id: string
  readonly address: string
  readonly did: string
  readonly network: boolean
  readonly federations: readonly string[]
  readonly last_success: string | null
}

export interface Probe {
  readonly id: string
  readonly ok: boolean
  readonly same_model: boolean | null
  readonly latency_ms: number | null
  readonly clock_difference_ms: number | null
  readonly reason: string | null
}

export interface Proposed {
  readonly id: string
  readonly address: string
  readonly did: string
  readonly known_as: string | null
}

export interface AddedPeer {
  readonly peer: Peer
  readonly identity: string
  readonly reached: boolean
}

export function addedText({ peer, identity, reached }: AddedPeer): string {
  const told =
    identity === 'first_use'
      ? 'its key was taken from its own answer: compare it with what its owner says'
      : reached
        ? 'it answers with this key'
        : 'it does not answer now'
  return `${peer.id} at ${peer.address}\n${peer.did}\nasked for ${askedFor(peer)}; ${told}\n`
}

export function peersText(peers: readonly Peer[], style: Style): string {
  if (peers.length === 0) return 'no peers\n'
  return textTable(
    [
      { title: 'PEER', cell: peer => peer.id },
      { title: 'ADDRESS', cell: peer => peer.address },
      { title: 'ASKED FOR', cell: askedFor },
      { title: 'LAST ANSWER', cell: peer => peer.last_success?.slice(0, 16) ?? 'never' },
    ],
    peers,
    style,
  )
}

export function probesText(probes: readonly Probe[], style: Style): string {
  if (probes.length === 0) return 'no peers\n'
  return textTable(
    [
      { title: 'PEER', cell: probe => probe.id },
      { title: 'ANSWERS', cell: probe => (probe.ok ? 'yes' : `no: ${probe.reason}`) },
      { title: 'MS', align: 'right', cell: ({ latency_ms }) => latency_ms?.toFixed(1) ?? '-' },
      { title: 'CLOCK', align: 'right', cell: ({ clock_difference_ms }) => clockText(clock_difference_ms) },
      { title: 'MODEL', cell: ({ same_model }) => modelText(same_model) },
    ],
    probes,
    style,
  )
}

export function proposedText(proposed: readonly Proposed[], style: Style): string {
  if (proposed.length === 0) return 'it tells of none\n'
  return textTable(
    [
      { title: 'THERE', cell: one => one.id },
      { title: 'HERE', cell: one => one.known_as ?? '-' },
      { title: 'ADDRESS', cell: one => one.address },
      { title: 'KEY', cell: one => one.did },
    ],
    proposed,
    style,
  )
}

function askedFor({ network, federations }: Peer): string {
  const parts = [...(network ? ['public beliefs'] : []), ...federations]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

/** In seconds, with its sign. */
function clockText(ms: number | null): string {
  return ms === null ? '-' : `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1000).toFixed(1)} s`
}

function modelText(same: boolean | null): string {
  return same === null ? '-' : same ? 'the same' : 'another'
}
