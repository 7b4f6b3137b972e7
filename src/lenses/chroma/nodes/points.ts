/** Nodes as points of the colour space, by pages: enough to draw each as it is, and as it will be when nobody uses it. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { Viewer } from '../../../model/viewer.ts'
import { type ForecastEvent, forecast, futureOf } from '../memory/forecast.ts'
import { FADED, MODES } from '../memory/formulas.ts'
import { lastCycle } from '../memory/memory-rows.ts'
import { MODE_NAMES } from '../mode-names.ts'
import { color } from '../model.ts'
import { type Look, looking } from '../query/search.ts'
import { type ChromaState, secondsNow } from '../state.ts'
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
  return looking(state, state.host.sight(viewer), look => {
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
      const future = isTouched ? futureOf({ mode: MODES[cell.mode_name], cell, since }, now, FADED, decay_enabled) : []
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
    const told = items.flatMap(({ entry: key, ...foreseen }) => {
      const entry = entries.get(key)
      return entry === undefined ? [] : [{ entry_id: entry.id, label: entry.title, ...foreseen }]
    })
    return { ...rest, items: told }
  })
}
