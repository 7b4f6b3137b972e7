/** The indexes, held against ones built again, and the snapshots they would be read from. */
import type { Steps } from '../../base/turns.ts'
import type { Index, LinkIndex, PointIndex, VectorIndex, WordIndex } from '../../index/contract.ts'
import type { SnapshotLoad, SnapshotProblem } from '../../index/snapshot.ts'
import type { PartitionId } from '../../model/partition.ts'
import { REPAIR_HELP } from '../../store/care/problem.ts'
import type { Store } from '../../store/store.ts'
import { type Examined, finding } from './doctor-files.ts'

export interface IndexesToExamine {
  readonly names: readonly string[]
  /** The living index of that name, at the newest committed change. */
  readonly indexOf: (name: string) => Index
  /** A second index of the same kind, empty: rebuilt here to compare the living one with. */
  readonly fresh: (index: Index) => Index
  /** Takes the snapshot of an index into an empty one of its kind; null: nothing is saved here. */
  readonly loaded: ((empty: Index) => Steps<SnapshotLoad>) | null
  /** Builds the living index of that name again and saves it. */
  readonly renew: (name: string) => Promise<void>
}

/** Whether each index has the rows that a rebuild has. In steps: what is written at a pause comes into both. */
export function* indexesFindings({ names, indexOf, fresh, renew }: IndexesToExamine, store: Store): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of names) {
    const rebuilt = fresh(indexOf(name))
    yield* rebuild(rebuilt, store)
    // Whoever brings the living index forward in steps is done with it.
    const index = indexOf(name)
    const [rows, wanted] = store.read(reader => {
      for (const one of [index, rebuilt]) one.refresh(reader)
      const all = reader.partitions().map(({ id }) => id)
      return [rowsOf(index, all), rowsOf(rebuilt, all)]
    })
    found.push(comparison(name, rows, wanted, () => renew(name)))
    yield
  }
  return found
}

/** Each step within one read, so that it sees one commit. */
function* rebuild(index: Index, store: Store): Steps<void> {
  const steps = index.rebuildInSteps?.(store)
  if (steps === undefined) index.rebuild(store)
  else while (store.read(() => steps.next(false)).done !== true) yield
}

export function* snapshotsFindings({ names, indexOf, fresh, loaded, renew }: IndexesToExamine): Steps<Examined[]> {
  const found: Examined[] = []
  for (const name of loaded === null ? [] : names) {
    const load = loaded?.(fresh(indexOf(name)))
    if (load !== undefined) found.push(snapshotFinding(name, yield* load, () => renew(name)))
  }
  return found
}

function comparison(name: string, rows: number, wanted: number, renew: () => Promise<void>): Examined {
  const check = `index ${name}`
  if (rows === wanted) return finding(check, true, `${rows} rows, as a rebuild has`)
  return finding(check, false, `${rows} rows, a rebuild has ${wanted}`, REPAIR_HELP, async () => {
    await renew()
    return 'built again'
  })
}

/** Snapshots that nobody damaged, but that time or a restored backup has passed by: the index was built without. */
const HARMLESS: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  missing: 'there is none yet',
  other_format: 'of another version, so the index was built again',
  // Its bytes are as they were written, so another version wrote them.
  refused: 'of another version of the index, which was built again',
  ahead_of_store: 'of a later state than the store, so the index was built again',
  other_past: 'of another past of the store, so the index was built again',
}

const HARMFUL: Readonly<Partial<Record<SnapshotProblem, string>>> = {
  damaged: 'damaged',
  other_store: 'of another store',
  other_index: 'of another index',
  unreadable: 'not readable',
}

function snapshotFinding(name: string, loaded: SnapshotLoad, renew: () => Promise<void>): Examined {
  const check = `snapshot ${name}`
  if (loaded.ok) return finding(check, true, 'can be read')
  const { reason } = loaded
  const harmless = HARMLESS[reason]
  if (harmless !== undefined) return finding(check, true, harmless)
  const help = `It is passed over, so starting takes longer. ${REPAIR_HELP}`
  return finding(check, false, HARMFUL[reason] ?? reason, help, async () => {
    await renew()
    return 'written again'
  })
}

/** An index of a lens may have no count: then its position is compared. */
function rowsOf(index: Index, partitions: readonly PartitionId[]): number {
  if (!hasCount(index)) return index.position
  const count = index.count({ partitions })
  return typeof count === 'number' ? count : count.nodes + count.links
}

function hasCount(index: Index): index is WordIndex | VectorIndex | PointIndex | LinkIndex {
  return 'count' in index
}
