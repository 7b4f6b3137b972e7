/**
 * The decay cycle (CQ-134 to CQ-138): strength and health of what lies idle go down, by formulas of the time passed, so it
 * does not matter how often a cycle runs or where one was killed. In batches, each a transaction that also notes how far
 * it came.
 */
import { z } from 'zod'
import { nextTurn } from '../../../base/next-turn.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { BATCH, Batch, memoryOfCell, mustGoOn, type RunOptions } from './batches.ts'
import type { MemoryColumns } from './columns.ts'
import { endCycle, keepCycle, lastCycle, openCycle } from './cycle-state.ts'
import { decayedStrength, healthOf } from './formulas.ts'
import type { MemoryContext } from './memories.ts'
import type { StoredMemory } from './memory-rows.ts'
import { MODES, type Mode } from './modes.ts'
import { type VisibleNodes, visibleNodes } from './visible.ts'

export const decayReport = z.lazy(() =>
  z.strictObject({
    processed: z.int().min(0).describe('Nodes that were due'),
    strength_decayed: z.int().min(0).describe('Nodes whose strength fell'),
    health_decayed: z.int().min(0).describe('Nodes whose health fell'),
    errors: z.int().min(0).describe('Nodes that could not be written'),
    skipped: z
      .enum(['global_disabled', 'memory_disabled'])
      .optional()
      .describe('Why nothing ran: decay or memory is switched off in the settings'),
  }),
)
export type DecayReport = Readonly<z.infer<typeof decayReport>>

type Counts = { -readonly [K in Exclude<keyof DecayReport, 'skipped'>]: number }

/**
 * One cycle for one viewer. A cycle of the same `now` that was cut off is taken up where it ended; one of another time is
 * begun anew, which decays nothing twice.
 */
export async function runDecayCycle(context: MemoryContext, viewer: string, options: RunOptions): Promise<DecayReport> {
  const { host, access, memories, settings } = context
  const { now, signal, report, mustHold } = options
  const { store, clock } = host
  access.flush()
  const counts: Counts = { processed: 0, strength_decayed: 0, health_decayed: 0, errors: 0 }
  const end = () =>
    store.write(clock.now(), writer => {
      mustHold?.(writer)
      endCycle(writer, viewer, now)
    })
  const skipped = !settings.enabled ? 'memory_disabled' : !settings.decay_enabled ? 'global_disabled' : null
  if (skipped !== null) {
    end()
    return { ...counts, skipped }
  }
  const columns = memories.of(viewer)
  const visible = visibleNodes(host, viewer)
  const since = lastCycle(store, viewer)
  const open = openCycle(store, viewer)
  let after: EntryKey = open?.now === now ? open.after : -1
  let done = 0
  for (;;) {
    mustGoOn(signal)
    const step = store.write(clock.now(), writer => {
      mustHold?.(writer)
      return decayBatch(writer, columns, { now, since, after, visible }, counts)
    })
    step.committed()
    done += step.passed
    report?.({ phase: 'decay', done, total: visible.size ?? columns.size })
    if (step.after === -1) break
    after = step.after
    await nextTurn()
  }
  end()
  return counts
}

interface BatchInput {
  readonly now: number
  /** The end of the last cycle. */
  readonly since: number
  readonly after: EntryKey
  readonly visible: VisibleNodes
}

interface BatchOutcome {
  /** The last node that is done; -1: that was all. */
  readonly after: EntryKey
  /** Visible nodes looked at: others do not show, not even in the progress. */
  readonly passed: number
  readonly committed: () => void
}

function decayBatch(writer: StoreWriter, columns: MemoryColumns, input: BatchInput, counts: Counts): BatchOutcome {
  const { now, since, visible } = input
  columns.follow(writer)
  const batch = new Batch(writer, columns)
  let after = input.after
  let passed = 0
  let handled = 0
  while (handled < BATCH) {
    after = columns.next(after)
    if (after === -1) break
    if (!visible.has(after)) continue
    passed++
    const cell = columns.memory(after)
    if (cell === undefined || cell.ascension || !cell.decay_enabled || now <= cell.last_accessed) continue
    handled++
    counts.processed++
    if (cell.mode_name === null) {
      counts.errors++
      continue
    }
    const before = memoryOfCell(writer, columns.viewer, after, cell)
    const decayed = decay(before, MODES[cell.mode_name], now, since)
    if (decayed === before || !batch.write(after, decayed)) continue
    if (decayed.strength_raw < before.strength_raw) counts.strength_decayed++
    if (decayed.decay_health < before.decay_health) counts.health_decayed++
  }
  counts.errors += batch.errors
  if (after !== -1) keepCycle(writer, columns.viewer, { now, after })
  return { after, passed, committed: batch.end() }
}

/** The same object when nothing changes. */
function decay(memory: StoredMemory, mode: Mode, now: number, since: number): StoredMemory {
  const { last_accessed, strength_raw, decay_health, decayed_at, version } = memory
  const idle = now - Math.max(last_accessed, decayed_at, since)
  const strength = decayedStrength(mode, strength_raw, idle)
  const health = healthOf(mode, last_accessed, now)
  if (strength === strength_raw && health === decay_health) return memory
  return {
    ...memory,
    strength_raw: strength,
    decay_health: health,
    decayed_at: Math.max(decayed_at, now),
    version: version + 1,
  }
}
