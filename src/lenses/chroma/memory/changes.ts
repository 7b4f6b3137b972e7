/**
 * Records that queries returned nodes, which counts as a use of each node (CQ-066 to CQ-071). Uses are written at once, in one durable
 * transaction per query, or queued and written together a little later (CQ-103, CQ-104); both give the same memories.
 */

import { z } from 'zod'
import { must } from '../../../base/assert.ts'
import { nextTurn } from '../../../base/turns.ts'
import type { EntryKey } from '../../../model/entry.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { Progress } from '../../../model/operation.ts'
import { OWNER } from '../../../model/partition.ts'
import { setNotice } from '../../../pipeline/notices.ts'
import type { Store, StoreWriter } from '../../../store/store.ts'
import type { Condition, Job, LensHost } from '../../lens.ts'
import { machineTimer, type Timer } from '../errors.ts'
import type { Warning } from '../model.ts'
import {
  defaultMemory,
  endCycle,
  isDayOpen,
  keepCycle,
  lastCycle,
  logUses,
  NODES,
  openCycle,
  readMemory,
  type StoredMemory,
  setDay,
  type VisibleNodes,
  viewersWithMemory,
  visibleNodes,
  writeMemory,
} from '../tables.ts'
import type { Cell, Memories, MemoryColumns, MemoryContext } from './columns.ts'
import { ascends, DAY, decayedStrength, healthOf, MODES, type Mode, reinforced, rots } from './formulas.ts'

const QUEUE_LENGTH = 100
const QUEUE_MS = 1_000
/** Largest number of uses in the queue; while the queue cannot be written, the oldest uses above this number are dropped. */
const QUEUE_LIMIT = 10_000
/** Number of attempts to write uses after the first one has failed. */
const RETRIES = 5
/** How long one attempt waits for writers of other processes, in ms: all attempts together block the thread for less than 50 ms. */
const WAIT_MS = 8
/**
 * Error codes of a store that cannot be written at present, with the text of the warning for each. Any viewer may read the warning, so it
 * has no file paths.
 */
const UNWRITABLE: Readonly<Record<string, string>> = {
  store_readonly: 'the store cannot be written',
  io_failed: 'the disk did not take them',
}

export interface AccessOptions {
  readonly store: Store
  readonly memories: Memories
  readonly mode: 'immediate' | 'queued'
  /** Setting `memory.enabled`: when false, uses of nodes are recorded but do not change a node's strength (CQ-054). */
  readonly memoryEnabled: boolean
  /** Timer that delays the writing of queued uses; tests replace it. */
  readonly timer?: Timer | undefined
}

interface Hit {
  readonly viewer: string
  readonly entry: EntryKey
  readonly now: number
}

export class AccessUpdates {
  readonly #options: AccessOptions
  readonly #timer: Timer
  #queue: Hit[] = []
  #stopTimer: (() => void) | null = null

  constructor(options: AccessOptions) {
    this.#options = options
    this.#timer = options.timer ?? machineTimer
  }

  /**
   * Records that a query returned these nodes to this viewer at `now` (Unix seconds). Uses that cannot be written, because other writers
   * hold the lock or the file or disk refuses, are skipped with a warning (CQ-071); in queued mode they stay in the queue. Must not be
   * called within a transaction.
   */
  record(viewer: string, entries: readonly EntryKey[], now: number): readonly Warning[] {
    const hits = entries.map(entry => ({ viewer, entry, now }))
    if (hits.length === 0) return []
    if (this.#options.mode === 'immediate') {
      const reason = this.#write(hits)
      return reason === null ? [] : [skipped(hits.length, reason)]
    }
    this.#queue.push(...hits)
    if (this.#queue.length >= QUEUE_LENGTH) return this.#writeQueue()
    this.#writeLater()
    return []
  }

  /** Writes the uses of nodes that wait in the queue, and returns warnings about those that could not be written. */
  flush(): readonly Warning[] {
    return this.#queue.length === 0 ? [] : this.#writeQueue()
  }

  /** Writes the queue when the engine closes: uses that cannot be written now are lost, and a warning reports them. */
  close(): readonly Warning[] {
    const warnings = this.flush()
    this.#stopTimer?.()
    this.#stopTimer = null
    this.#queue = []
    return warnings
  }

  #writeQueue(): readonly Warning[] {
    this.#stopTimer?.()
    this.#stopTimer = null
    const reason = this.#write(this.#queue)
    if (reason === null) {
      this.#queue = []
      return []
    }
    const dropped = Math.max(0, this.#queue.length - QUEUE_LIMIT)
    this.#queue = this.#queue.slice(dropped)
    this.#writeLater()
    return [dropped === 0 ? deferred(this.#queue.length, reason) : skipped(dropped, reason)]
  }

  #writeLater(): void {
    this.#stopTimer ??= this.#timer(() => {
      this.#stopTimer = null
      try {
        this.#writeQueue()
      } catch {
        // No caller can receive this error. The hits stay queued; the next flush meets the same error and throws it.
      }
    }, QUEUE_MS)
  }

  /**
   * Writes all given uses (at least one) in one transaction, dated with the time of the last. Each memory is read and written back under
   * the write lock, so no use is lost between two queries. Returns null, or the reason why nothing was written: other writers kept the
   * lock, or the file cannot be written. A query reads the clock once (CQ-009).
   */
  #write(hits: readonly Hit[]): string | null {
    const { store, memories } = this.#options
    const at = must(hits.at(-1), 'a hit').now * 1000
    const byViewer = Map.groupBy(hits, hit => hit.viewer)
    // The memory columns are loaded before the transaction begins: the first load takes long and would block other writers.
    const columns = new Map([...byViewer.keys()].map(viewer => [viewer, memories.loaded(viewer)]))
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      try {
        const write = (writer: StoreWriter) =>
          [...byViewer].map(([viewer, own]) => this.#apply(writer, columns.get(viewer) as MemoryColumns, own))
        for (const committed of store.write(at, write, WAIT_MS)) committed()
        return null
      } catch (error) {
        const reason = error instanceof QuerentError ? UNWRITABLE[error.code] : undefined
        if (reason !== undefined) return reason
        if (!(error instanceof QuerentError && error.code === 'store_locked')) throw error
      }
    }
    return 'other writers kept the store locked'
  }

  /**
   * Applies the uses in order, each to the memory that the previous use left; uses of deleted nodes are dropped. The returned function
   * updates the columns in memory and must be called after the commit.
   */
  #apply(writer: StoreWriter, columns: MemoryColumns, hits: readonly Hit[]): () => void {
    columns.refresh()
    const batch = new Batch(writer, columns)
    const stored = columns.stored(writer, [...new Set(hits.map(({ entry }) => entry))])
    for (const { entry, now } of hits) {
      const cell = columns.memory(entry)
      if (cell === undefined || cell.mode_name === null) continue
      // For a node that was never used, the last access in the memory columns is the time of its creation.
      const before = batch.changed.get(entry) ?? stored.get(entry) ?? defaultMemory(cell.last_accessed)
      batch.write(entry, reinforced(before, MODES[cell.mode_name], now, this.#options.memoryEnabled))
    }
    return batch.end()
  }
}

function skipped(count: number, reason: string): Warning {
  return {
    code: 'access_update_skipped',
    message: `${count} access updates were skipped: ${reason}`,
    details: { count },
  }
}

function deferred(count: number, reason: string): Warning {
  return {
    code: 'access_update_deferred',
    message: `${count} access updates wait: ${reason}`,
    details: { count },
  }
}

// Batches of memory changes for two long runs over a viewer's nodes: the decay cycle and the lifecycle check.

/** Number of memories that one transaction of a long run changes at most. */
export const BATCH = 1000

export interface RunOptions {
  /** Time that the run takes as the present, in Unix seconds. */
  readonly now: number
  readonly signal?: AbortSignal | undefined
  readonly report?: ((progress: Progress) => void) | undefined
  /** Option of a lifecycle check: when true, no node becomes rotten in this run. */
  readonly spares?: boolean | undefined
  /**
   * Set when a background job does this run. It is called at the start of each transaction, and throws when another worker has taken over
   * the job.
   */
  readonly requireHeld?: Condition | undefined
}

/** Throws `cancelled` when the caller's abort signal has ended the run. */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new QuerentError('cancelled', 'the run was ended; a later run continues from there')
}

/** One viewer's stored memory of a node, or the default memory where none is stored. */
export function memoryOfCell(writer: StoreWriter, viewer: string, entry: EntryKey, cell: Cell): StoredMemory {
  const stored = cell.used ? readMemory(writer, viewer, entry) : undefined
  return stored ?? defaultMemory(cell.last_accessed)
}

/** The memories that one transaction changes, each written when it is given. Nodes that cannot be written are counted. */
export class Batch {
  readonly changed: Map<EntryKey, StoredMemory> = new Map()
  errors = 0
  readonly #writer: StoreWriter
  readonly #columns: MemoryColumns

  constructor(writer: StoreWriter, columns: MemoryColumns) {
    this.#writer = writer
    this.#columns = columns
  }

  /** Writes one memory; returns false when that failed, so that invalid values of one node do not stop the run. */
  write(entry: EntryKey, memory: StoredMemory): boolean {
    try {
      writeMemory(this.#writer, this.#columns.viewer, entry, memory)
    } catch (error) {
      if (!(error instanceof QuerentError && error.kind === 'usage')) throw error
      this.errors++
      return false
    }
    this.changed.set(entry, memory)
    return true
  }

  /** Adds the changes to the log of uses. The returned function must be called after the commit: it brings the columns up to date. */
  end(): () => void {
    if (this.changed.size === 0) return () => undefined
    const seen = logUses(this.#writer, this.#columns.viewer, [...this.changed.keys()], this.#columns.seen)
    return () => this.#columns.wrote(this.changed, seen)
  }
}

// The decay cycle (CQ-134 to CQ-138): strength and health of idle nodes go down by formulas of the elapsed time, so it does not matter how
// often a cycle runs or where one was killed. It works in batches, each a transaction that also records its progress.

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

type DecayCounts = { -readonly [K in Exclude<keyof DecayReport, 'skipped'>]: number }

/**
 * Runs one decay cycle over one viewer's nodes. An interrupted cycle is continued when `now` equals its time; for any other `now` the cycle
 * starts at the first node. No node decays twice for one period of time.
 */
export async function runDecayCycle(context: MemoryContext, viewer: string, options: RunOptions): Promise<DecayReport> {
  const { host, access, memories, settings } = context
  const { now, signal, report, requireHeld } = options
  const { store, clock } = host
  access.flush()
  const counts: DecayCounts = { processed: 0, strength_decayed: 0, health_decayed: 0, errors: 0 }
  const end = () =>
    store.write(clock.now(), writer => {
      requireHeld?.(writer)
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
    assertNotAborted(signal)
    const step = store.write(clock.now(), writer => {
      requireHeld?.(writer)
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
  /** Time when the viewer's last decay cycle ended, in Unix seconds. */
  readonly since: number
  readonly after: EntryKey
  readonly visible: VisibleNodes
}

interface BatchOutcome {
  /** Key of the last node that the cycle has handled; -1 when all nodes are handled. */
  readonly after: EntryKey
  /** Number of visible nodes that were examined. Hidden nodes are not counted, so that the progress does not reveal them. */
  readonly passed: number
  readonly committed: () => void
}

function decayBatch(writer: StoreWriter, columns: MemoryColumns, input: BatchInput, counts: DecayCounts): BatchOutcome {
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

/** The memory of a node after decay; the same object when nothing changes. */
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

// The lifecycle check (CQ-139 to CQ-141): a node that has become strong enough ascends and stays permanently; a node that is neither recent
// nor strong becomes rotten. The check depends only on the stored memories, so an interrupted check is completed by running it again.

export const lifecycleReport = z.lazy(() =>
  z.strictObject({
    ascensions: z.int().min(0).describe('Nodes that now stay for good'),
    rots: z.int().min(0).describe('Nodes that are now forgotten'),
    errors: z.int().min(0).describe('Nodes that could not be written'),
    skipped: z.enum(['memory_disabled']).optional().describe('Why nothing ran: memory is switched off in the settings'),
  }),
)
export type LifecycleReport = Readonly<z.infer<typeof lifecycleReport>>

type LifecycleCounts = { -readonly [K in Exclude<keyof LifecycleReport, 'skipped'>]: number }
type Turn = 'ascends' | 'rots' | 'fails' | null

export async function runLifecycleCheck(
  context: MemoryContext,
  viewer: string,
  { now, signal, report, requireHeld, spares = false }: RunOptions,
): Promise<LifecycleReport> {
  const { host, access, memories, settings } = context
  access.flush()
  const counts: LifecycleCounts = { ascensions: 0, rots: 0, errors: 0 }
  if (!settings.enabled) return { ...counts, skipped: 'memory_disabled' }
  const columns = memories.of(viewer)
  const visible = visibleNodes(host, viewer)
  let due: EntryKey[] = []
  let passed = 0
  const turnAll = () => {
    if (due.length === 0) return
    const committed = host.store.write(host.clock.now(), writer => {
      requireHeld?.(writer)
      return turn(writer, columns, due, { now, spares }, counts)
    })
    committed()
    due = []
  }
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) {
    // Hidden nodes are not counted in the reported progress, which would otherwise reveal how many there are.
    if (!visible.has(entry)) continue
    passed++
    const cell = columns.memory(entry)
    if (cell !== undefined && turnOf(cell, now, spares) !== null) due.push(entry)
    if (due.length < BATCH && passed % (10 * BATCH) !== 0) continue
    assertNotAborted(signal)
    turnAll()
    report?.({ phase: 'lifecycle', done: passed, total: visible.size ?? columns.size })
    await nextTurn()
  }
  assertNotAborted(signal)
  turnAll()
  report?.({ phase: 'lifecycle', done: passed, total: passed })
  return counts
}

/**
 * What the lifecycle check would do to a node at `now`: let it ascend, let it rot, count it as failed (its memory mode is unknown), or
 * nothing. Frozen nodes (without decay) and ascended nodes are left unchanged.
 */
function turnOf(cell: Cell, now: number, spares = false): Turn {
  if (cell.ascension || !cell.decay_enabled) return null
  if (cell.mode_name === null) return 'fails'
  const mode = MODES[cell.mode_name]
  if (ascends(mode, cell.strength_raw)) return 'ascends'
  return !spares && !cell.rotten && rots(mode, cell.last_accessed, cell.strength_raw, now) ? 'rots' : null
}

/**
 * Examines each node again inside the write transaction, when no other writer can interfere, and applies the change. The returned function
 * updates the columns in memory and must be called after the commit.
 */
function turn(
  writer: StoreWriter,
  columns: MemoryColumns,
  entries: readonly EntryKey[],
  { now, spares }: { readonly now: number; readonly spares: boolean },
  counts: LifecycleCounts,
): () => void {
  columns.follow(writer)
  const batch = new Batch(writer, columns)
  for (const entry of entries) {
    const cell = columns.memory(entry)
    const what = cell === undefined ? null : turnOf(cell, now, spares)
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

/** How often the job checks whether a day has passed, in ms: an engine may be open for an hour only, or for weeks. */
const LOOK_EVERY_MS = 3_600_000

/** The background jobs that run decay cycles and lifecycle checks. `contextOf` gives the lens's memory state for a host. */
export function memoryJobs(contextOf: (host: LensHost) => MemoryContext): readonly Job[] {
  return [
    {
      name: 'chroma.memory',
      everyMs: LOOK_EVERY_MS,
      run: async (host, now, signal, report, requireHeld) => {
        const context = contextOf(host)
        const seconds = Math.floor(now / 1000)
        for (const viewer of viewersToServe(host)) {
          if (signal.aborted) return
          await serve(context, viewer, seconds, {
            ...{ signal, requireHeld },
            report: progress => report({ ...progress, current: viewer }),
          })
        }
      },
    },
  ]
}

/**
 * Viewers for whom decay cycle and lifecycle check are run: the owner and all with a stored memory. None in a store without nodes, so that
 * such a store is never written.
 */
function viewersToServe(host: LensHost): readonly string[] {
  if (host.store.table(NODES).scan({}, { limit: 1 }).length === 0) return []
  return [...new Set([OWNER, ...viewersWithMemory(host.store)])]
}

type RunInput = Pick<Parameters<typeof runDecayCycle>[2], 'signal' | 'report' | 'requireHeld'>

/**
 * Runs a decay cycle and a lifecycle check for one viewer. An interrupted cycle is completed with its own time as `now`, and the check
 * stays due until one was completed.
 */
async function serve(context: MemoryContext, viewer: string, now: number, input: RunInput): Promise<void> {
  const { store, clock } = context.host
  const isDue = now - lastCycle(store, viewer) >= DAY
  if (!isDue && !isDayOpen(store, viewer)) return
  const open = openCycle(store, viewer)
  const at = open !== null && open.now <= now && now - open.now < DAY ? open.now : now
  const setDayTo = (state: 'open' | 'done') =>
    store.write(clock.now(), writer => {
      input.requireHeld?.(writer)
      setDay(writer, viewer, state)
    })
  try {
    setDayTo('open')
    if (isDue) await runDecayCycle(context, viewer, { ...input, now: at })
    const spares = isAnnounced(context, viewer, now, input)
    await runLifecycleCheck(context, viewer, { ...input, now, spares })
    setDayTo('done')
  } catch (error) {
    // The run was cancelled in the middle; the next run of the job continues it.
    if (!(error instanceof QuerentError && error.code === 'cancelled')) throw error
  }
}

/** This many of a viewer's nodes, if they are also more than one in `MANY_OF`, do not rot at once: it is announced in the cycle before. */
const MANY = 20
const MANY_OF = 10

/**
 * Whether so many nodes would rot that it is announced first (CQ-151): `status` and the doctor report the number until the next cycle,
 * which lets the nodes rot. Nodes that an earlier cycle announced are not delayed again.
 */
function isAnnounced(context: MemoryContext, viewer: string, now: number, { requireHeld }: RunInput): boolean {
  const { store, clock } = context.host
  const [nodes, rotting] = rottingOf(context, viewer, now)
  const name = `chroma.rots:${viewer}`
  const cycle = String(lastCycle(store, viewer))
  const before = store.meta(name) ?? ''
  const isMany = rotting >= MANY && rotting * MANY_OF > nodes
  const isHeldBack = isMany && (before === '' || before === cycle)
  if (!isHeldBack && before === '') return false
  const message = `${rotting} of ${nodes} nodes of ${viewer} rot in the next daily run of the lens chroma unless they are used; \`querent chroma lifecycle\` does it at once`
  store.write(clock.now(), writer => {
    requireHeld?.(writer)
    writer.setMeta(name, isHeldBack ? cycle : '')
    setNotice(writer, name, isHeldBack ? { viewer, message } : null)
  })
  return isHeldBack
}

/** Two numbers: how many nodes the viewer sees, and how many of them would become rotten now. */
function rottingOf({ host, memories }: MemoryContext, viewer: string, now: number): readonly [number, number] {
  const columns = memories.of(viewer)
  const visible = visibleNodes(host, viewer)
  let [nodes, rotting] = [0, 0]
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) {
    const cell = columns.memory(entry)
    if (cell === undefined || !visible.has(entry)) continue
    nodes++
    if (turnOf(cell, now) === 'rots') rotting++
  }
  return [nodes, rotting]
}
