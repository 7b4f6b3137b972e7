/**
 * The lifecycle check (CQ-139 to CQ-141): what became strong enough ascends for good, what is neither recent nor strong
 * rots. It looks only at the state it finds, so one that was cut off is finished by running it again.
 */
import { z } from 'zod'
import { nextTurn } from '../../../base/next-turn.ts'
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreWriter } from '../../../store/store.ts'
import { BATCH, Batch, memoryOfCell, mustGoOn, type RunOptions } from './batches.ts'
import type { Cell } from './cells.ts'
import type { MemoryColumns } from './columns.ts'
import { ascends, rots } from './formulas.ts'
import type { MemoryContext } from './memories.ts'
import { MODES } from './modes.ts'
import { visibleNodes } from './visible.ts'

export const lifecycleReport = z.lazy(() =>
  z.strictObject({
    ascensions: z.int().min(0).describe('Nodes that now stay for good'),
    rots: z.int().min(0).describe('Nodes that are now forgotten'),
    errors: z.int().min(0).describe('Nodes that could not be written'),
    skipped: z.enum(['memory_disabled']).optional().describe('Why nothing ran: memory is switched off in the settings'),
  }),
)
export type LifecycleReport = Readonly<z.infer<typeof lifecycleReport>>

type Counts = { -readonly [K in Exclude<keyof LifecycleReport, 'skipped'>]: number }
type Turn = 'ascends' | 'rots' | 'fails' | null

export async function runLifecycleCheck(
  context: MemoryContext,
  viewer: string,
  { now, signal, report, mustHold }: RunOptions,
): Promise<LifecycleReport> {
  const { host, access, memories, settings } = context
  access.flush()
  const counts: Counts = { ascensions: 0, rots: 0, errors: 0 }
  if (!settings.enabled) return { ...counts, skipped: 'memory_disabled' }
  const columns = memories.of(viewer)
  const visible = visibleNodes(host, viewer)
  let due: EntryKey[] = []
  let passed = 0
  const turnAll = () => {
    if (due.length === 0) return
    const committed = host.store.write(host.clock.now(), writer => {
      mustHold?.(writer)
      return turn(writer, columns, due, now, counts)
    })
    committed()
    due = []
  }
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) {
    // Hidden ones do not show, not even in the progress.
    if (!visible.has(entry)) continue
    passed++
    const cell = columns.memory(entry)
    if (cell !== undefined && turnOf(cell, now) !== null) due.push(entry)
    if (due.length < BATCH && passed % (10 * BATCH) !== 0) continue
    mustGoOn(signal)
    turnAll()
    report?.({ phase: 'lifecycle', done: passed, total: visible.size ?? columns.size })
    await nextTurn()
  }
  mustGoOn(signal)
  turnAll()
  report?.({ phase: 'lifecycle', done: passed, total: passed })
  return counts
}

/** What the check does to a node now. Frozen and ascended ones are left alone. */
export function turnOf(cell: Cell, now: number): Turn {
  if (cell.ascension || !cell.decay_enabled) return null
  if (cell.mode_name === null) return 'fails'
  const mode = MODES[cell.mode_name]
  if (ascends(mode, cell.strength_raw)) return 'ascends'
  return !cell.rotten && rots(mode, cell.last_accessed, cell.strength_raw, now) ? 'rots' : null
}

/** Looks at each again, now that nobody else can write. Returns what is to be called after the commit. */
function turn(
  writer: StoreWriter,
  columns: MemoryColumns,
  entries: readonly EntryKey[],
  now: number,
  counts: Counts,
): () => void {
  columns.follow(writer)
  const batch = new Batch(writer, columns)
  for (const entry of entries) {
    const cell = columns.memory(entry)
    const what = cell === undefined ? null : turnOf(cell, now)
    if (cell === undefined || what === null) continue
    if (what === 'fails') {
      counts.errors++
      continue
    }
    const before = memoryOfCell(writer, columns.viewer, entry, cell)
    const ascension = what === 'ascends'
    if (!batch.write(entry, { ...before, ascension, rotten: !ascension, version: before.version + 1 })) continue
    if (ascension) counts.ascensions++
    else counts.rots++
  }
  counts.errors += batch.errors
  return batch.end()
}
