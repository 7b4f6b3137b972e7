/** Nodes as points of the colour space, by pages: enough to draw each as it is, and as it will be when nobody uses it. */

import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import { TopK } from '../../../base/top-k.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Viewer } from '../../../model/viewer.ts'
import type { StoreReader } from '../../../store/store.ts'
import { invalidParameter } from '../errors.ts'
import type { Cell, MemoryContext } from '../memory/columns.ts'
import {
  ascends,
  DAY,
  decayedStrength,
  FADED,
  healthOf,
  MODE_NAMES,
  MODES,
  type Mode,
  type ModeName,
  rawStrength,
  recencyOf,
  rots,
  strengthNorm,
  strengthRate,
} from '../memory/formulas.ts'
import { color } from '../model.ts'
import { type Look, looking } from '../query/question.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { lastCycle, memoryRows, visibleNodes } from '../tables.ts'
import { nodeState } from './stored.ts'

export const MOST_POINTS = 5_000
const POINTS = 1_000
/** Entries read at once: their contents come along. */
const READ = 500

const moment = z.int().nullable()

export const pointsPage = z.lazy(() =>
  z.strictObject({
    now: z.int().describe('The one clock reading, Unix seconds, from which the future is computed'),
    total: z.int().min(0).describe('Nodes that the viewer sees'),
    points: z.array(nodePoint).describe('The newest first'),
  }),
)
const nodePoint = z.lazy(() =>
  z.strictObject({
    entry_id: z.string().describe('Id of the node'),
    label: z.string().describe('Title'),
    color: color.describe('[L, a, b]: L 0 to 100, a and b -128 to 127'),
    mode_name: z.enum(MODE_NAMES).describe('Memory mode'),
    state: z.enum(['ASCENDED', 'ROTTEN', 'ACTIVE']).describe('Whether it stays for good, is forgotten, or neither'),
    last_accessed: z.int().describe('Last use by this viewer, Unix seconds'),
    strength_raw: z.number().min(0).describe('Memory strength before normalising'),
    decays_from: moment.describe('From when strength_raw decays on, Unix seconds; null: time takes nothing from it'),
    ascends_at: moment.describe('When it becomes permanent without use, Unix seconds; null: never, or it is'),
    rots_at: moment.describe('When it is forgotten without use, Unix seconds; null: never, or it is'),
    fades_at: moment.describe('When its health falls below one half, Unix seconds; null: never, or it has'),
  }),
)
export type NodePoint = ReadonlyDeep<z.infer<typeof nodePoint>>
export type PointsPage = ReadonlyDeep<z.infer<typeof pointsPage>>

export const pointsOptions = z.strictObject({
  offset: z.int().min(0).optional().describe('Nodes to leave out, at least 0. Default: 0'),
  limit: z.int().min(1).max(MOST_POINTS).optional().describe(`Most points, 1 to ${MOST_POINTS}. Default: ${POINTS}`),
})
export type PointsOptions = z.infer<typeof pointsOptions>

/** Pages hang together as long as nothing is stored or deleted between them. */
export function pointsOf(
  state: ChromaState,
  viewer: Viewer,
  { offset = 0, limit = POINTS }: PointsOptions,
): PointsPage {
  state.access.flush()
  const now = secondsNow(state.host)
  return looking(state, state.host.accessScope(viewer), look => {
    const { columns, points, partitions } = look
    const keys = Float64Array.from(points.entries(partitions))
      .filter(entry => columns.has(entry))
      .sort()
      .reverse()
    const page = [...keys.subarray(offset, offset + limit)]
    return { now, total: keys.length, points: drawn(look, page, now) }
  })
}

function drawn(look: Look, keys: readonly EntryKey[], now: number): readonly NodePoint[] {
  const { reader, columns, points, state, viewer } = look
  const { enabled, decay_enabled } = state.memory.settings
  const cycle = lastCycle(reader, viewer.id)
  const memories = columns.stored(reader, keys)
  const found: NodePoint[] = []
  for (let at = 0; at < keys.length; at += READ) {
    for (const { key, id, title } of reader.entries(keys.slice(at, at + READ))) {
      const [cell, place] = [columns.memory(key), points.pointOf(key)]
      if (cell === undefined || place === undefined || cell.mode_name === null) continue
      const since = Math.max(cell.last_accessed, cycle, memories.get(key)?.decayed_at ?? 0)
      const isTouched = enabled && cell.decay_enabled && !cell.ascension
      const future = isTouched ? futureOf({ mode: MODES[cell.mode_name], cell, since }, now, decay_enabled) : []
      const when = (wanted: ForecastEvent): number | null => {
        const at = future.find(({ event }) => event === wanted)?.at
        return at === undefined || at === Number.POSITIVE_INFINITY ? null : at
      }
      found.push({
        entry_id: id,
        label: title,
        color: place,
        mode_name: cell.mode_name,
        state: nodeState(cell),
        last_accessed: cell.last_accessed,
        strength_raw: cell.strength_raw,
        decays_from: isTouched && decay_enabled ? since : null,
        ascends_at: when('ascends'),
        rots_at: when('rots'),
        fades_at: when('fades'),
      })
    }
  }
  return found
}

export const foretold = z.lazy(() =>
  z.strictObject({
    now: z.int().describe('The one clock reading, Unix seconds'),
    until: z.int().describe('Up to when, Unix seconds, included'),
    totals: z
      .strictObject({
        ascends: z.int().min(0).describe('Nodes that become permanent'),
        rots: z.int().min(0).describe('Nodes that are forgotten'),
        fades: z.int().min(0).describe('Nodes whose health falls below one half'),
      })
      .describe('All events, also those that items leaves out'),
    items: z.array(foretoldNode).describe('The soonest first'),
    skipped: z.enum(['memory_disabled']).optional().describe('Why nothing is foreseen: memory is switched off'),
  }),
)
const foretoldNode = z.lazy(() =>
  z.strictObject({
    entry_id: z.string().describe('Id of the node'),
    label: z.string().describe('Title'),
    event: z.enum(['ascends', 'rots', 'fades']).describe('What happens to it'),
    at: z.number().describe('First moment at which it holds, Unix seconds'),
    recency: z.number().min(0).max(1).describe('As it will be at the end of the time asked for'),
    strength_norm: z.number().min(0).max(1).describe('Normalised strength at the end of that time'),
    decay_health: z.number().min(0).max(1).describe('Health at the end of that time'),
  }),
)
export type Foretold = ReadonlyDeep<z.infer<typeof foretold>>

export function foretell(state: ChromaState, viewer: Viewer, until: number, limit?: number): Foretold {
  const { host, memory } = state
  return host.store.read(reader => {
    const request = { now: secondsNow(host), until, ...(limit === undefined ? {} : { limit }) }
    const { items, ...rest } = forecast(memory, viewer.id, request)
    const entries = new Map(reader.entries(items.map(({ entry }) => entry)).map(entry => [entry.key, entry]))
    const named = items.flatMap(({ entry: key, ...foreseen }) => {
      const entry = entries.get(key)
      return entry === undefined ? [] : [{ entry_id: entry.id, label: entry.title, ...foreseen }]
    })
    return { ...rest, items: named }
  })
}

// What will have become of a viewer's nodes by a date if nobody uses them and the daily runs do their work: which ascend,
// rot or fade, and when. Changes nothing. Strength only falls without use, so what is going to ascend does so at the next
// check; rot and fading follow from the formulas of time.

const LIMIT = 100
/** By rounding, a time is off by far less; a value that stands on its threshold may never cross it. */
const ROUNDING_S = 60

export interface ForecastRequest {
  /** Unix seconds, both; `until` included. */
  readonly now: number
  readonly until: number
  /** Foreseen changes to name, the soonest first; default 100. The totals count all. */
  readonly limit?: number | undefined
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
  const { now, until, limit = LIMIT } = request
  if (!Number.isSafeInteger(until) || until < now)
    throw invalidParameter('until', until, `whole seconds from ${now} on`)
  if (!Number.isSafeInteger(limit) || limit < 0) throw invalidParameter('limit', limit, 'a whole number ≥ 0')
  const totals = { ascends: 0, rots: 0, fades: 0 }
  if (!context.settings.enabled) return { now, until, totals, items: [], skipped: 'memory_disabled' }
  context.access.flush()
  const decays = context.settings.decay_enabled
  const soonest = new TopK<Foreseen>(limit, bySoonest)
  context.host.store.read(reader => {
    for (const [entry, idle] of idleNodes(reader, context, viewer)) {
      for (const { event, at } of futureOf(idle, now, decays)) {
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
  decays: boolean,
): readonly { readonly event: ForecastEvent; readonly at: number }[] {
  const { mode, cell } = idle
  if (ascends(mode, strengthAt(idle, now, decays))) return [{ event: 'ascends', at: now }]
  const rot = cell.rotten ? Number.POSITIVE_INFINITY : rotAt(idle, now, decays)
  const fade = decays ? fadeAt(idle, now) : Number.POSITIVE_INFINITY
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
function fadeAt({ mode, cell }: Idle, now: number): number {
  const hasFaded = (at: number) => healthOf(mode, cell.last_accessed, at) < FADED
  if (hasFaded(now)) return Number.POSITIVE_INFINITY
  return firstSecond(cell.last_accessed - DAY * mode.tau_decay_days * Math.log(FADED), now, hasFaded)
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

// What a viewer's memory looks like as a whole (CQ-142), over the nodes it sees.

const figure = z.number().min(0).nullable()

export const statistics = z.lazy(() =>
  z.strictObject({
    total_nodes: z.int().min(0).describe('Nodes that the viewer sees'),
    permanent_nodes: z.int().min(0).describe('Those that stay for good'),
    rotten_nodes: z.int().min(0).describe('Those that are forgotten'),
    decay_disabled: z.int().min(0).describe('Those that do not fade'),
    mode_distribution: z.partialRecord(z.enum(MODE_NAMES), z.int()).describe('Nodes by memory mode; modes that occur'),
    strength: z
      .strictObject({
        average: figure.describe('Mean; null without nodes'),
        min: figure.describe('Lowest; null without nodes'),
        max: figure.describe('Highest; null without nodes'),
      })
      .describe('Of strength_raw, at least 0'),
    health: z
      .strictObject({
        average: figure.describe('Mean; null without nodes'),
        min: figure.describe('Lowest; null without nodes'),
      })
      .describe('Of decay_health, 0 to 1'),
  }),
)
export type Statistics = ReadonlyDeep<z.infer<typeof statistics>>

export function statisticsOf({ host, access, memories }: MemoryContext, viewer: string): Statistics {
  access.flush()
  const visible = visibleNodes(host, viewer)
  return host.store.read(reader => {
    const columns = memories.of(viewer)
    const modes = new Map<ModeName, number>()
    const strength = new Spread()
    const health = new Spread()
    let permanent = 0
    let rotten = 0
    let frozen = 0
    for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) {
      const cell = columns.memory(entry)
      if (cell === undefined || !visible.has(entry)) continue
      if (cell.ascension) permanent++
      if (cell.rotten) rotten++
      if (!cell.decay_enabled) frozen++
      if (cell.mode_name !== null) modes.set(cell.mode_name, (modes.get(cell.mode_name) ?? 0) + 1)
      strength.add(cell.strength_raw)
      if (!cell.used) health.add(1)
    }
    for (const row of memoryRows(reader, viewer, ['decay_health'])) {
      const entry = row['entry'] as EntryKey
      if (columns.has(entry) && visible.has(entry)) health.add(row['decay_health'] as number)
    }
    const present = MODE_NAMES.flatMap(name => (modes.has(name) ? [[name, modes.get(name)]] : []))
    return {
      total_nodes: strength.count,
      permanent_nodes: permanent,
      rotten_nodes: rotten,
      decay_disabled: frozen,
      mode_distribution: Object.fromEntries(present),
      strength: { average: strength.average, min: strength.min, max: strength.max },
      health: { average: health.average, min: health.min },
    }
  })
}

/** Mean and extremes of numbers as they come; null of none. */
class Spread {
  count = 0
  min: number | null = null
  max: number | null = null
  #sum = 0

  add(value: number): void {
    this.count++
    this.#sum += value
    if (this.min === null || value < this.min) this.min = value
    if (this.max === null || value > this.max) this.max = value
  }

  get average(): number | null {
    return this.count === 0 ? null : this.#sum / this.count
  }
}
