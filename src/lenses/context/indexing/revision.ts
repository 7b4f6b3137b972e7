/** Runs of the indexer that write, counted in the store: so two processes notice each other, and a run that was cut off. */
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { counter, setCounter } from '../counters.ts'
import { refusal } from '../envelope.ts'

const REVISION = 'index_revision'
/** 1 while a run writes: what it left behind must be compared as a whole. */
const UNFINISHED = 'index_unfinished'

export function revisionOf(reader: StoreReader): number {
  return counter(reader, REVISION) ?? 0
}

export function isUnfinished(reader: StoreReader): boolean {
  return (counter(reader, UNFINISHED) ?? 0) > 0
}

/** Throws `Refusal` with code `overtaken` unless the store stands at this revision. */
export function mustStandAt(reader: StoreReader, revision: number): void {
  if (revisionOf(reader) === revision) return
  throw refusal('handler', 'overtaken', 'another run has begun; it does what this one had left to do')
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

/** For whoever takes files away behind the indexer's back: the next run compares all. */
export function leaveUnfinished(writer: StoreWriter): void {
  beginRevision(writer)
}
