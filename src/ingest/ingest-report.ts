/** What became of the files of one ingest. */
import type { Written } from './write-file.ts'

/** A file, or what was no entry in it. */
export interface Skipped {
  readonly path: string
  readonly reason: string
  /** How many there were. Absent: one. */
  readonly count?: number | undefined
}

/** Numbers count entries. Paths are as the request wrote them, with what comes below. */
export interface IngestReport {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: readonly Skipped[]
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  /** Of entries added or updated. */
  readonly chunks: number
}

/** A report that is being written. */
export class ReportDraft {
  readonly #counts: Written = { added: 0, updated: 0, unchanged: 0, deleted: 0, chunks: 0 }
  readonly #skipped: { path: string; reason: string }[] = []
  readonly #errors: { path: string; message: string }[] = []

  count(entries: Partial<Readonly<Written>>): void {
    for (const name of ['added', 'updated', 'unchanged', 'deleted', 'chunks'] as const) {
      this.#counts[name] += entries[name] ?? 0
    }
  }

  skip(path: string, reason: string): void {
    this.#skipped.push({ path, reason })
  }

  fail(path: string, message: string): void {
    this.#errors.push({ path, message })
  }

  finish(): IngestReport {
    return { ...this.#counts, skipped: this.#skipped, errors: this.#errors }
  }
}
