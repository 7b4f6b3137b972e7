/**
 * The nodes of a store as points of the colour space, in pages. A point has what is needed to draw it as it is now and as it will be
 * without further use.
 */

import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Viewer } from '../../../model/viewer.ts'
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
  rots,
  strengthRate,
} from '../memory/formulas.ts'
import { color } from '../model.ts'
import { type Look, looking } from '../query/question.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { lastCycle, memoryRows, visibleNodes } from '../tables.ts'
import { nodeState } from './stored.ts'

export const MAX_POINTS = 5_000
const POINTS = 1_000
/** Number of entries that are read, with their contents, before the work pauses for other work. */
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
    decays_from: moment.describe('Time from which strength_raw decays, Unix seconds; null: time takes nothing from it'),
    ascends_at: moment.describe('When it becomes permanent without use, Unix seconds; null: never, or it is'),
    rots_at: moment.describe('When it is forgotten without use, Unix seconds; null: never, or it is'),
    fades_at: moment.describe('When its health falls below one half, Unix seconds; null: never, or it has'),
  }),
)
export type NodePoint = ReadonlyDeep<z.infer<typeof nodePoint>>
export type PointsPage = ReadonlyDeep<z.infer<typeof pointsPage>>

export const pointsOptions = z.strictObject({
  offset: z.int().min(0).optional().describe('Nodes to leave out, at least 0. Default: 0'),
  limit: z.int().min(1).max(MAX_POINTS).optional().describe(`Most points, 1 to ${MAX_POINTS}. Default: ${POINTS}`),
})
export type PointsOptions = z.infer<typeof pointsOptions>

/** One page of points. Consecutive pages fit together as long as no node is stored or deleted between the calls. */
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
      const when = (wanted: FutureEvent): number | null => {
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

// Forecasts when a node that nobody uses will ascend, rot or fade, while the daily jobs run. Without use strength only falls, so a node
// that will ascend does so at the next lifecycle check; rotting and fading follow from the formulas of time.

/**
 * Number of seconds after a computed time within which the moment is searched at which a value crosses its threshold; rounding shifts it by
 * far less. A value exactly on its threshold may never cross it.
 */
const ROUNDING_S = 60

type FutureEvent = 'ascends' | 'rots' | 'fades'

/** State of a node from which its future without further use is computed. */
export interface Idle {
  readonly mode: Mode
  readonly cell: Cell
  /** Time in Unix seconds from which the node's strength decays. */
  readonly since: number
}

/**
 * When the node will ascend (become permanent), rot (be left out of results) and fade, in Unix seconds; Infinity: never. The time is `now`
 * where the conditions are already met and only the next daily job is awaited.
 */
export function futureOf(
  idle: Idle,
  now: number,
  decays: boolean,
): readonly { readonly event: FutureEvent; readonly at: number }[] {
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

/** When the node's health will fall below the limit for faded nodes, in Unix seconds; Infinity when it has already. */
function fadeAt({ mode, cell }: Idle, now: number): number {
  const hasFaded = (at: number) => healthOf(mode, cell.last_accessed, at) < FADED
  if (hasFaded(now)) return Number.POSITIVE_INFINITY
  return firstSecond(cell.last_accessed - DAY * mode.tau_decay_days * Math.log(FADED), now, hasFaded)
}

/**
 * The first whole second, not before `now`, at which a condition holds that stays true from then on. `about` is the computed time, which
 * rounding may have shifted.
 */
function firstSecond(about: number, now: number, holds: (at: number) => boolean): number {
  if (about === Number.POSITIVE_INFINITY) return about
  const from = Math.max(now, Math.floor(about) - 1)
  for (let at = from; at < from + ROUNDING_S; at++) if (holds(at)) return at
  return Number.POSITIVE_INFINITY
}

function strengthAt({ mode, cell, since }: Idle, at: number, decays: boolean): number {
  return decays ? decayedStrength(mode, cell.strength_raw, at - since) : cell.strength_raw
}

// Statistics of one viewer's memory (CQ-142), over the nodes that the viewer sees.

const figure = z.number().min(0).nullable()

export const statistics = z.lazy(() =>
  z.strictObject({
    total_nodes: z.int().min(0).describe('Nodes that the viewer sees'),
    permanent_nodes: z.int().min(0).describe('Nodes that stay for good'),
    rotten_nodes: z.int().min(0).describe('Nodes that are forgotten'),
    decay_disabled: z.int().min(0).describe('Nodes that do not fade'),
    mode_distribution: z.partialRecord(z.enum(MODE_NAMES), z.int()).describe('Nodes by memory mode; modes that occur'),
    strength: z
      .strictObject({
        average: figure.describe('Mean; null without nodes'),
        min: figure.describe('Lowest; null without nodes'),
        max: figure.describe('Highest; null without nodes'),
      })
      .describe('Figures of strength_raw, at least 0'),
    health: z
      .strictObject({
        average: figure.describe('Mean; null without nodes'),
        min: figure.describe('Lowest; null without nodes'),
      })
      .describe('Figures of decay_health, 0 to 1'),
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

/** Collects numbers and gives their mean, minimum and maximum; null when there were no numbers. */
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
