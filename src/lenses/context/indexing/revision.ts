/** Changes of what the indexer keeps, counted in the store: so a picture of it in memory is known to be out of date. */
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { counter, setCounter } from '../counters.ts'

const REVISION = 'index_revision'
/** 1 while a run writes: what it left behind must be compared as a whole. */
const UNFINISHED = 'index_unfinished'

export function revisionOf(reader: StoreReader): number {
  return counter(reader, REVISION) ?? 0
}

export function isUnfinished(reader: StoreReader): boolean {
  return (counter(reader, UNFINISHED) ?? 0) > 0
}

/** The revision that begins. */
export function beginRevision(writer: StoreWriter): number {
  const revision = revisionOf(writer) + 1
  setCounter(writer, REVISION, revision)
  setCounter(writer, UNFINISHED, 1)
  return revision
}

export function endRevision(writer: StoreWriter): void {
  setCounter(writer, UNFINISHED, 0)
}

/** For whoever takes files away outside of a run: the next run compares all. */
export function leaveUnfinished(writer: StoreWriter): void {
  beginRevision(writer)
}

/** For whoever deletes concepts outside of a run: pictures in memory still have them. */
export function changeRevision(writer: StoreWriter): void {
  setCounter(writer, REVISION, revisionOf(writer) + 1)
}
