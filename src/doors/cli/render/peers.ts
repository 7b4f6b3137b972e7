/** What the commands on other nodes print for people. */
import type { Style } from './style.ts'
import { textTable } from './table.ts'

export interface Peer {
  readonly id: string
  readonly address: string
  readonly did: string
  readonly network: boolean
  readonly federations: readonly string[]
  readonly model: string | null
  readonly state: string
  readonly resting_ms: number
}

export interface Probe {
  readonly node: string
  readonly reachable: boolean
  readonly is_itself: boolean | null
  readonly model: string | null
  readonly clock_difference_ms: number | null
  readonly elapsed_ms: number
}

export function peersText(peers: readonly Peer[], style: Style): string {
  if (peers.length === 0) return 'no other nodes\n'
  return textTable(
    [
      { title: 'NODE', cell: peer => peer.id },
      { title: 'ADDRESS', cell: peer => peer.address },
      { title: 'ASKED FOR', cell: asked },
      { title: 'STATE', cell: ({ state, resting_ms: ms }) => (ms > 0 ? `rests ${Math.ceil(ms / 1000)} s` : state) },
      { title: 'MODEL', cell: peer => peer.model ?? '-' },
      { title: 'KEY', cell: peer => peer.did },
    ],
    peers,
    style,
  )
}

function asked({ network, federations }: Peer): string {
  const parts = [...(network ? ['public beliefs'] : []), ...federations.map(id => `federation ${id}`)]
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

export function probesText(probes: readonly Probe[], style: Style): string {
  if (probes.length === 0) return 'no other nodes\n'
  return textTable(
    [
      { title: 'NODE', cell: probe => probe.node },
      { title: 'ANSWERS', cell: answers },
      { title: 'AFTER', align: 'right', cell: probe => `${probe.elapsed_ms} ms` },
      { title: 'CLOCK', align: 'right', cell: ({ clock_difference_ms: ms }) => (ms === null ? '-' : `${ms} ms`) },
      { title: 'MODEL', cell: probe => probe.model ?? '-' },
    ],
    probes,
    style,
  )
}

function answers({ reachable, is_itself: isItself }: Probe): string {
  if (!reachable) return 'no'
  return isItself ? 'yes' : 'with another key'
}
