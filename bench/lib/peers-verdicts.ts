/** What is compared with what, and who is ahead. */
import type { Answered, PeerFigures, Times } from '../peers/lib/figures.ts'
import { SCENARIOS, type Scenario } from '../peers/lib/scenarios.ts'
import type { Topic } from './peers-words.ts'

export interface Comparison {
  readonly table: string
  /** Column. */
  readonly name: string
  readonly topic: Topic
  /** Less is better; null: the peer does not have it. */
  value(peer: PeerFigures): number | null
  show(peer: PeerFigures): string
  /** In a cell of a peer that does not have it. */
  readonly none?: string
  /** Nobody is ahead in it. */
  readonly isInformation?: boolean
  /** Whether the peer does the same as the others; absent: yes. */
  isSound?(peer: PeerFigures): boolean
}

export interface Verdict {
  readonly comparison: Comparison
  readonly ours: number
  readonly lostTo: { readonly name: string; readonly value: number } | undefined
}

/** What counts as the same on a machine that is never quite quiet. */
const SAME = 1.05
/** A little under the target: what was enough on the questions of tuning may miss by a hair on others. */
const RECALL = 0.985
/** Of FTS5's ten; below, another question was answered. */
const OVERLAP = 0.25

/** What filters have to do with the question, in the heading of a table. */
const ABOUT = {
  none: '',
  random: 'that has nothing to do with the question',
  near: 'to the topic of the question',
  far: 'to the topic least like the question',
} as const

export const COMPARISONS: readonly Comparison[] = [
  ...SCENARIOS.map(nearest),
  {
    table: 'Words and hybrid',
    name: 'any of 3 words',
    topic: 'words',
    value: ({ words }) => words?.p50 ?? null,
    show: ({ words }) => times(words),
    isSound: ({ words }) => (words?.overlap ?? 0) >= OVERLAP,
  },
  {
    table: 'Words and hybrid',
    name: "of FTS5's ten",
    topic: 'words',
    value: ({ words }) => (words === null ? null : 1 - words.overlap),
    show: ({ words }) => (words === null ? '' : `${Math.round(words.overlap * 100)} %`),
    none: '',
    // Who is like FTS5 is not better: that is a check that the same was asked.
    isInformation: true,
  },
  {
    table: 'Words and hybrid',
    name: 'hybrid',
    topic: 'hybrid',
    value: ({ hybrid }) => hybrid?.p50 ?? null,
    show: ({ hybrid }) => times(hybrid),
  },
  ...(['insert', 'found', 'update', 'remove'] as const).map(change),
  size('build, processor time', 's', 'building', ({ build }) => build),
  size('open and first answer', 'ms', 'opening', ({ open }) => open),
  size('memory', 'MB', 'memory', ({ memory }) => (memory === null ? null : memory / 1e6)),
  size('disk', 'MB', 'disk', ({ disk }) => (disk === null ? null : disk / 1e6)),
]

export function isComparable(comparison: Comparison, peer: PeerFigures): boolean {
  return comparison.isSound?.(peer) ?? true
}

/** Querent among peers that answer alike, with as many rows. */
export function verdictsOf(peers: readonly PeerFigures[]): readonly Verdict[] {
  const querent = peers.find(({ name }) => name.startsWith('Querent'))
  if (querent === undefined) return []
  return COMPARISONS.flatMap(comparison => {
    const ours = comparison.value(querent)
    if (ours === null || comparison.isInformation === true) return []
    const others = peers
      .filter(peer => peer !== querent && isComparable(comparison, peer))
      .map(peer => ({ name: peer.name, value: comparison.value(peer) }))
      .filter((one): one is { name: string; value: number } => one.value !== null)
      .sort((a, b) => a.value - b.value)
    const [best] = others
    const isLost = best !== undefined && ours > best.value * SAME
    return [{ comparison, ours, lostTo: isLost ? best : undefined }]
  })
}

function nearest(scenario: Scenario): Comparison {
  const { name, narrowing, share, isNew } = scenario
  const of = (peer: PeerFigures): Answered | null => peer.nearest[name] ?? null
  const alone = narrowing === 'none' || isNew === true
  return {
    table: alone ? 'Nearest vectors' : `Nearest vectors, filter ${ABOUT[narrowing]}`,
    name: isNew ? 'filter keeps 5 %, not met before' : narrowing === 'none' ? 'no filter' : `keeps ${share * 100} %`,
    topic: isNew ? 'new filters' : narrowing === 'none' ? 'vectors' : 'filters',
    value: peer => of(peer)?.p50 ?? null,
    show: peer => {
      const recall = of(peer)?.recall ?? 1
      return `${times(of(peer))}${recall < 0.995 ? `, *${recall.toFixed(3)}*` : ''}`
    },
    isSound: peer => (of(peer)?.recall ?? 0) >= RECALL,
  }
}

function change(act: 'insert' | 'found' | 'update' | 'remove'): Comparison {
  return {
    table: 'One change',
    name: { insert: 'insert', found: 'insert, then found by a question', update: 'update', remove: 'delete' }[act],
    topic: 'changes',
    value: ({ update }) => update?.[act].p50 ?? null,
    show: ({ update }) => times(update?.[act] ?? null),
    none: 'not measured',
    isSound: ({ update }) => update?.wrong === 0,
  }
}

function size(name: string, unit: string, topic: Topic, value: (peer: PeerFigures) => number | null): Comparison {
  const show = (peer: PeerFigures) => `${short(value(peer) ?? 0)} ${unit}`
  return { table: 'Building and keeping', name, topic, value, show, none: 'not measured' }
}

function times(of: Times | null): string {
  return of === null ? '' : `${short(of.p50)} (${short(of.p99)})`
}

/** Three digits that count. */
export function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
