/** The map of what a viewer sees, and of one question where there is one. Looking at it is no use of what it shows. */
import { z } from 'zod'
import type { EntryKey } from '../../../model/entry.ts'
import type { CallContext } from '../../../model/operation.ts'
import { strengthNorm } from '../memory/formulas.ts'
import type { Color } from '../model.ts'
import { ask } from '../query/ask.ts'
import type { CheckedItem } from '../query/question.ts'
import { type Look, looking, POINTS } from '../query/search.ts'
import type { ChromaState } from '../state.ts'
import { type MapNode, type MapQuestion, MOST_NODES, mapSvg } from './map.ts'

export const drawnMap = z.lazy(() =>
  z.strictObject({
    svg: z.string().describe('An SVG document'),
    nodes: z.int().min(0).describe('Nodes that the viewer sees, drawn or not'),
  }),
)
export type DrawnMap = Readonly<z.infer<typeof drawnMap>>

export async function drawMap(
  state: ChromaState,
  call: Pick<CallContext, 'viewer' | 'signal'>,
  item: CheckedItem,
): Promise<DrawnMap> {
  await state.host.ready?.([POINTS])
  const isAsked = item.hashtags !== undefined || item.input !== undefined
  const question = isAsked ? await questionOf(state, call, item) : null
  return looking(state, state.host.sight(call.viewer), look => {
    const strongest = byStrength(look)
    const drawn = strongest.slice(0, MOST_NODES)
    const titles = titlesOf(
      look,
      drawn.map(({ entry }) => entry),
    )
    const named: MapNode[] = drawn.map(node => ({ ...node, label: titles.get(node.entry) ?? '' }))
    return { svg: mapSvg({ nodes: named, total: strongest.length, question }), nodes: strongest.length }
  })
}

async function questionOf(
  state: ChromaState,
  call: Pick<CallContext, 'viewer' | 'signal'>,
  item: CheckedItem,
): Promise<MapQuestion> {
  const { results, query } = await ask(state, call, { ...item, update_access: false })
  const hits = results.map(row => {
    const color: Color = [row.color_L, row.color_a, row.color_b]
    return { label: row.label, color, score: row.score }
  })
  return { color: query.color, text: item.input ?? query.hashtags.join(' '), hits }
}

type Placed = Omit<MapNode, 'label'> & { readonly entry: EntryKey }

function byStrength({ points, partitions, columns }: Look): readonly Placed[] {
  const nodes: Placed[] = []
  for (const entry of points.entries(partitions)) {
    const memory = columns.memory(entry)
    const color = points.pointOf(entry)
    if (memory === undefined || color === undefined) continue
    const { rotten, ascension: ascended } = memory
    nodes.push({ entry, color, strength: strengthNorm(memory.strength_raw), rotten, ascended })
  }
  return nodes.sort((a, b) => b.strength - a.strength || a.entry - b.entry)
}

/** Entries read at once: their contents come along. */
const PAGE = 500

function titlesOf({ reader }: Look, keys: readonly EntryKey[]): ReadonlyMap<EntryKey, string> {
  const titles = new Map<EntryKey, string>()
  for (let at = 0; at < keys.length; at += PAGE) {
    for (const entry of reader.entries(keys.slice(at, at + PAGE))) titles.set(entry.key, entry.title)
  }
  return titles
}
