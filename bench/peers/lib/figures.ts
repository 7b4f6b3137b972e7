/** What a run of the peers leaves: the figures that the page is made from. */
import type { Machine } from '../../lib/report.ts'

export interface Times {
  readonly p50: number
  readonly p99: number
  readonly count: number
}

export interface Answered extends Times {
  /** Mean share of the right answers that were found; null: not measured against one truth. */
  readonly recall: number | null
  /** The peer's own setting that was enough, or the last one tried. */
  readonly knob: string | null
}

export interface PeerFigures {
  readonly name: string
  readonly version: string
  readonly holds: 'ids' | 'texts'
  readonly rows: number
  readonly settings: string
  readonly durability: string
  /** Seconds of processor time, bytes; null: not measured, or shared with another. */
  readonly build: number | null
  readonly disk: number | null
  readonly memory: number | null
  /** Milliseconds. */
  readonly open: number
  /** By scenario; null: the peer does not have it. */
  readonly nearest: Readonly<Record<string, Answered | null>>
  readonly words: (Times & { readonly overlap: number }) | null
  readonly hybrid: Times | null
  readonly update: {
    readonly insert: Times
    readonly found: Times
    readonly update: Times
    readonly remove: Times
    readonly wrong: number
  } | null
}

export interface PeersReport {
  readonly machine: Machine
  readonly commit: string
  readonly target: number
  readonly peers: readonly PeerFigures[]
  readonly missing: readonly { readonly name: string; readonly why: string }[]
}
