/** What a viewer's memory looks like as a whole (CQ-142), over the nodes it sees. */
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES, type ModeName } from '../model.ts'
import type { MemoryContext } from './memories.ts'
import { memoryRows } from './memory-rows.ts'
import { visibleNodes } from './visible.ts'

export interface Statistics {
  readonly total_nodes: number
  readonly permanent_nodes: number
  readonly rotten_nodes: number
  readonly decay_disabled: number
  /** Modes that occur. */
  readonly mode_distribution: Readonly<Partial<Record<ModeName, number>>>
  /** Null without nodes. */
  readonly strength: { readonly average: number | null; readonly min: number | null; readonly max: number | null }
  readonly health: { readonly average: number | null; readonly min: number | null }
}

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
