import type { PointHit } from '../../../index/contract.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { recencyOf, relevanceOf, strengthNorm } from '../memory/formulas.ts'
import { defaultMemory } from '../memory/memory-rows.ts'
import { MODES } from '../memory/modes.ts'
import type { ResultRow } from '../model.ts'
import { nodeRow, resultRow } from '../nodes/rows.ts'
import type { Look } from './look.ts'

/** A row, and the entry it shows. */
export interface Ranked {
  readonly entry: EntryKey
  readonly row: ResultRow
}

/** The rows of these hits, with the state they were scored by (CQ-070, CQ-076). */
export function rowsOf(look: Look, hits: readonly PointHit[], now: number): readonly Ranked[] {
  const { reader, state, columns } = look
  const byEntry = new Map(hits.map(hit => [hit.entry, hit]))
  const keys = [...byEntry.keys()]
  const memories = columns.stored(reader, keys)
  return state.nodes.read(reader, keys).map(node => {
    const { entry, aspect } = node
    const { distance, score } = byEntry.get(entry.key) as PointHit
    const memory = memories.get(entry.key) ?? defaultMemory(aspect.created_at)
    const computed = {
      distance,
      relevance: relevanceOf(distance),
      recency: recencyOf(MODES[aspect.mode_name], memory.last_accessed, now),
      strength_norm: strengthNorm(memory.strength_raw),
      score,
    }
    return {
      entry: entry.key,
      row: resultRow(nodeRow(node, memory, node.columns), computed),
    }
  })
}
