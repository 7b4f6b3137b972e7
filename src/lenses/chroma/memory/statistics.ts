/** What a viewer's memory looks like as a whole (CQ-142), over the nodes it sees. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { MODE_NAMES, type ModeName } from '../mode-names.ts'
import type { MemoryContext } from './columns.ts'
import { memoryRows, visibleNodes } from './memory-rows.ts'

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
