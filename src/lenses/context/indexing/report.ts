/** What a run has changed, and what it tells of itself. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { FileStamp, OwnFile } from '../body/register.ts'
import { tally } from '../tally.ts'
import type { Findings, Told } from './look-over.ts'

/** Of what is left out or failed, so many are named. */
const MOST_TOLD = 100

/** Of a file that changed: what is remembered until it is written. */
export interface ChangedFile {
  readonly path: string
  readonly stamp: FileStamp
  readonly isNew: boolean
  /** In the order of its concepts; none: it was kept without. */
  readonly symbols: readonly string[]
}

export interface Changes {
  readonly changed: readonly ChangedFile[]
  readonly gone: readonly OwnFile[]
  /** URL of a changed file -> the gone one that had the same bytes. */
  readonly renamed: ReadonlyMap<string, OwnFile>
}

export function report(
  { unchanged, leftOut, errors }: Findings,
  { changed, gone, renamed }: Changes,
  { readMs, wroteMs }: { readonly readMs: number; readonly wroteMs: number },
): JsonObject {
  const files = changed.length + unchanged
  const some = (all: readonly Told[]) => all.slice(0, MOST_TOLD).map(({ url, reason }) => ({ url, reason }))
  return {
    indexed: changed.length,
    skipped: unchanged,
    deleted: gone.length - renamed.size,
    renamed: renamed.size,
    concepts: changed.reduce((sum, { symbols }) => sum + symbols.length, 0),
    left_out: { total: leftOut.length, reasons: tally(leftOut.map(({ reason }) => reason)), files: some(leftOut) },
    errors: { total: errors.length, files: some(errors) },
    read_ms: Math.round(readMs),
    ms: Math.round(wroteMs),
    files_per_second: Math.round(files / Math.max(0.001, wroteMs / 1000)),
  }
}
