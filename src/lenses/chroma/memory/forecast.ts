/**
 * What will have become of a viewer's nodes by a date if nobody uses them and the daily runs do their work: which ascend,
 * rot or fade, and when. Changes nothing. Strength only falls without use, so what is going to ascend does so at the next
 * check; rot and fading follow from the formulas of time.
 */
import { TopK } from '../../../base/top-k.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader } from '../../../store/store.ts'
import { invalidParameter } from '../errors.ts'
import type { MemoryContext } from './columns.ts'
import {
  ascends,
  DAY,
  decayedStrength,
  FADED,
  healthOf,
  MODES,
  type Mode,
  rawStrength,
  recencyOf,
  rots,
  strengthNorm,
  strengthRate,
} from './formulas.ts'
import { lastCycle, memoryRows, visibleNodes } from './memory-rows.ts'
import type { Cell } from './scorer.ts'

const LIMIT = 100
/** By rounding, a time is off by far less; a value that stands on its threshold may never cross it. */
const ROUNDING_S = 60

export interface ForecastRequest {
  /** Unix seconds, both; `until` included. */
  readonly now: number
  readonly until: number
  /** Foreseen changes to name, the soonest first; default 100. The totals count all. */
  readonly limit?: number | undefined
  /** A node fades when its health falls below this; default 0.5. */
  readonly fadedBelow?: number | undefined
}

export type ForecastEvent = 'ascends' | 'rots' | 'fades'

export interface Foreseen {
  readonly entry: EntryKey
  readonly event: ForecastEvent
  /** The first second at which it holds. */
  readonly at: number
  /** As they will be at `until`. */
  readonly recency: number
  readonly strength_norm: number
  readonly decay_health: number
}

export interface Forecast {
  readonly now: number
  readonly until: number
  readonly totals: Readonly<Record<ForecastEvent, number>>
  readonly items: readonly Foreseen[]
  readonly skipped?: 'memory_disabled'
}

/** One node's future, as far as a forecast needs it. */
export interface Idle {
  readonly mode: Mode
  readonly cell: Cell
  /** From when its strength decays on. */
  readonly since: number
}

export function forecast(context: MemoryContext, viewer: string, request: ForecastRequest): Forecast {
  const { now, until, limit = LIMIT, fadedBelow = FADED } = request
  if (!Number.isSafeInteger(until) || until < now)
    throw invalidParameter('until', until, `whole seconds from ${now} on`)
  if (!Number.isSafeInteger(limit) || limit < 0) throw invalidParameter('limit', limit, 'a whole number ≥ 0')
  if (!(fadedBelow > 0 && fadedBelow <= 1)) throw invalidParameter('faded_below', fadedBelow, 'above 0, at most 1')
  const totals = { ascends: 0, rots: 0, fades: 0 }
  if (!context.settings.enabled) return { now, until, totals, items: [], skipped: 'memory_disabled' }
  context.access.flush()
  const decays = context.settings.decay_enabled
  const soonest = new TopK<Foreseen>(limit, bySoonest)
  context.host.store.read(reader => {
    for (const [entry, idle] of idleNodes(reader, context, viewer)) {
      for (const { event, at } of futureOf(idle, now, fadedBelow, decays)) {
        if (at > until) continue
        totals[event]++
        soonest.push({ entry, event, at, ...stateAt(idle, now, until, decays) })
      }
    }
  })
  return { now, until, totals, items: soonest.sorted() }
}

function stateAt(
  idle: Idle,
  now: number,
  until: number,
  decays: boolean,
): Pick<Foreseen, 'recency' | 'strength_norm' | 'decay_health'> {
  const { mode, cell } = idle
  return {
    recency: recencyOf(mode, cell.last_accessed, until),
    strength_norm: strengthNorm(strengthAt(idle, until, decays)),
    decay_health: healthOf(mode, cell.last_accessed, decays ? until : now),
  }
}

/** The nodes that time can change. */
function* idleNodes(
  reader: StoreReader,
  { host, memories }: MemoryContext,
  viewer: string,
): Generator<readonly [EntryKey, Idle]> {
  const visible = visibleNodes(host, viewer)
  const columns = memories.of(viewer)
  const cycle = lastCycle(reader, viewer)
  // Later than the last cycle only where one was cut off.
  const ahead = new Map<EntryKey, number>()
  for (const row of memoryRows(reader, viewer, ['decayed_at'])) {
    const at = row['decayed_at'] as number
    if (at > cycle) ahead.set(row['entry'] as EntryKey, at)
  }
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) {
    const cell = columns.memory(entry)
    if (!cell?.decay_enabled || cell.ascension || cell.mode_name === null || !visible.has(entry)) continue
    const since = Math.max(cell.last_accessed, cycle, ahead.get(entry) ?? 0)
    yield [entry, { mode: MODES[cell.mode_name], cell, since }]
  }
}

/** All that will happen to a node, and when (Infinity: never); at `now` what is only waiting for the next run. */
export function futureOf(
  idle: Idle,
  now: number,
  fadedBelow: number,
  decays: boolean,
): readonly { readonly event: ForecastEvent; readonly at: number }[] {
  const { mode, cell } = idle
  if (ascends(mode, strengthAt(idle, now, decays))) return [{ event: 'ascends', at: now }]
  const rot = cell.rotten ? Number.POSITIVE_INFINITY : rotAt(idle, now, decays)
  const fade = decays ? fadeAt(idle, now, fadedBelow) : Number.POSITIVE_INFINITY
  return [
    { event: 'rots', at: rot },
    { event: 'fades', at: fade },
  ]
}

function rotAt(idle: Idle, now: number, decays: boolean): number {
  const { mode, cell, since } = idle
  const { rot_recency_min, rot_strength_min } = mode
  if (rot_recency_min === null || rot_strength_min === null) return Number.POSITIVE_INFINITY
  const stale = cell.last_accessed - DAY * mode.tau_rec_days * Math.log(rot_recency_min)
  const excess = Math.log(cell.strength_raw / rawStrength(rot_strength_min))
  const weak = excess <= 0 ? now : decays ? since + (DAY * excess) / strengthRate(mode) : Number.POSITIVE_INFINITY
  const hasRotten = (at: number) => rots(mode, cell.last_accessed, strengthAt(idle, at, decays), at)
  return firstSecond(Math.max(stale, weak), now, hasRotten)
}

/** Infinity for what has faded already. */
function fadeAt({ mode, cell }: Idle, now: number, fadedBelow: number): number {
  const hasFaded = (at: number) => healthOf(mode, cell.last_accessed, at) < fadedBelow
  if (hasFaded(now)) return Number.POSITIVE_INFINITY
  return firstSecond(cell.last_accessed - DAY * mode.tau_decay_days * Math.log(fadedBelow), now, hasFaded)
}

/** The first whole second from `now` on that fulfils a condition which stays; `about` is right but for rounding. */
function firstSecond(about: number, now: number, holds: (at: number) => boolean): number {
  if (about === Number.POSITIVE_INFINITY) return about
  const from = Math.max(now, Math.floor(about) - 1)
  for (let at = from; at < from + ROUNDING_S; at++) if (holds(at)) return at
  return Number.POSITIVE_INFINITY
}

function strengthAt({ mode, cell, since }: Idle, at: number, decays: boolean): number {
  return decays ? decayedStrength(mode, cell.strength_raw, at - since) : cell.strength_raw
}

function bySoonest(a: Foreseen, b: Foreseen): number {
  return a.at - b.at || a.entry - b.entry || (a.event < b.event ? -1 : 1)
}
