/** What a run has changed, and what it tells of itself. */
import { z } from 'zod'
import type { FileStamp, OwnFile } from '../body/register.ts'
import { total } from '../schemas.ts'
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

const someFiles = z
  .array(
    z.strictObject({
      url: z.string().describe('URL of the file'),
      reason: z.string().describe('In a word, such as binary, ignored or too_large'),
    }),
  )
  .describe(`The first ${MOST_TOLD} of them`)

export const indexReport = z.lazy(() =>
  z.strictObject({
    indexed: total.describe('Files that were new or changed'),
    skipped: total.describe('Files that were unchanged'),
    deleted: total.describe('Files that are gone'),
    renamed: total.describe('Files that were moved: their concepts keep their numbers'),
    concepts: total.describe('Concepts of the files that were new or changed'),
    left_out: z
      .strictObject({
        total: total.describe('Their number'),
        reasons: z.record(z.string(), z.int()).describe('Their numbers by reason'),
        files: someFiles,
      })
      .describe('Files that are no code, too large or ignored'),
    with_errors: z
      .strictObject({
        total: total.describe('Their number'),
        files: z
          .array(z.strictObject({ url: z.string().describe('URL of the file') }))
          .describe(`The first ${MOST_TOLD} of them`),
      })
      .describe('Files of all that is indexed that were read with errors: declarations in them may be missing'),
    errors: z
      .strictObject({ total: total.describe('Their number'), files: someFiles })
      .describe('Files that could not be read'),
    read_ms: z.int().describe('Time for reading, milliseconds'),
    ms: z.int().describe('Time until all was written, milliseconds'),
    files_per_second: z.int().min(0).describe('Files looked at, by that time'),
    waited_ms: z.int().optional().describe('Time that it waited for other runs, milliseconds; absent: none'),
  }),
)

export function report(
  { unchanged, leftOut, errors }: Findings,
  { changed, gone, renamed }: Changes,
  { readMs, wroteMs }: { readonly readMs: number; readonly wroteMs: number },
  withErrors: readonly string[],
): z.infer<typeof indexReport> {
  const files = changed.length + unchanged
  const some = (all: readonly Told[]) => all.slice(0, MOST_TOLD).map(({ url, reason }) => ({ url, reason }))
  return {
    indexed: changed.length,
    skipped: unchanged,
    deleted: gone.length - renamed.size,
    renamed: renamed.size,
    concepts: changed.reduce((sum, { symbols }) => sum + symbols.length, 0),
    left_out: { total: leftOut.length, reasons: tally(leftOut.map(({ reason }) => reason)), files: some(leftOut) },
    with_errors: { total: withErrors.length, files: withErrors.slice(0, MOST_TOLD).map(url => ({ url })) },
    errors: { total: errors.length, files: some(errors) },
    read_ms: Math.round(readMs),
    ms: Math.round(wroteMs),
    files_per_second: Math.round(files / Math.max(0.001, wroteMs / 1000)),
  }
}
