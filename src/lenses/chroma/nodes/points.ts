/** Nodes as points of the colour space, by pages: enough to draw each as it is, and as it will be when nobody uses it. */
import type { EntryKey } from '../../../model/entry.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { invalidParameter } from '../errors.ts'
import { lastCycle } from '../memory/cycle-state.ts'
import { type ForecastEvent, futureOf } from '../memory/forecast.ts'
import { FADED } from '../memory/formulas.ts'
import { MODES } from '../memory/modes.ts'
import type { Color, ModeName, NodeRow } from '../model.ts'
import { type Look, looking } from '../query/look.ts'
import { type ChromaState, secondsNow } from '../state.ts'
import { nodeState } from './rows.ts'

export const MOST_POINTS = 5_000
const POINTS = 1_000
/** Entries read at once: their contents come along. */
const READ = 500

export interface NodePoint {
  readonly entry_id: string
  readonly label: string
  readonly color: Color
  readonly mode_name: ModeName
  readonly state: NodeRow['state']
  /** Unix seconds, as all times here. */
  readonly last_accessed: number
  readonly strength_raw: number
  /** From when `strength_raw` decays on; null: time takes nothing from this node. */
  readonly decays_from: number | null
  /** Null: never, or it has happened already. */
  readonly ascends_at: number | null
  readonly rots_at: number | null
  readonly fades_at: number | null
}

export interface PointsPage {
  readonly now: number
  /** Nodes that the viewer sees. */
  readonly total: number
  readonly points: readonly NodePoint[]
}

export interface PointsOptions {
  readonly offset?: number
  readonly limit?: number
}

/** Pages hang together as long as nothing is stored or deleted between them. */
export function pointsOf(
  state: ChromaState,
  viewer: Viewer,
  { offset = 0, limit = POINTS }: PointsOptions,
): PointsPage {
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalidParameter('offset', offset, 'a whole number ≥ 0')
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST_POINTS) {
    throw invalidParameter('limit', limit, `a whole number from 1 to ${MOST_POINTS}`)
  }
  state.access.flush()
  const now = secondsNow(state.host)
  return looking(state, viewer, look => {
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
      const [cell, color] = [columns.memory(key), points.pointOf(key)]
      if (cell === undefined || color === undefined || cell.mode_name === null) continue
      const since = Math.max(cell.last_accessed, cycle, memories.get(key)?.decayed_at ?? 0)
      const isTouched = enabled && cell.decay_enabled && !cell.ascension
      const future = isTouched ? futureOf({ mode: MODES[cell.mode_name], cell, since }, now, FADED, decay_enabled) : []
      const when = (wanted: ForecastEvent): number | null => {
        const at = future.find(({ event }) => event === wanted)?.at
        return at === undefined || at === Number.POSITIVE_INFINITY ? null : at
      }
      found.push({
        entry_id: id,
        label: title,
        color,
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
