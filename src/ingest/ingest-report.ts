/** What became of the files of one ingest. */
import { type Audience, partitionKey } from '../model/partition.ts'
import type { Written } from './write-file.ts'

/** A file, or what was no entry in it. */
export interface Skipped {
  readonly path: string
  readonly reason: string
  /** How many there were. Absent: one. */
  readonly count?: number | undefined
}

/** Entries of one path that others may see now than before. */
export interface VisibilityChange {
  readonly path: string
  readonly from: ShownAudience
  readonly to: ShownAudience
  readonly count: number
}

/** Who may see an entry, its holder apart. */
export interface ShownAudience {
  readonly kind: Audience['kind']
  /** With `shared`. */
  readonly federations?: readonly string[] | undefined
}

/** Counts changes of visibility, by path and by what they were. */
export class VisibilityChanges {
  readonly #counts = new Map<string, VisibilityChange>()

  /** Nothing where both are the same. */
  add(path: string, from: Audience, to: Audience): void {
    if (partitionKey(from) === partitionKey(to)) return
    const name = JSON.stringify([path, partitionKey(from), partitionKey(to)])
    const count = (this.#counts.get(name)?.count ?? 0) + 1
    this.#counts.set(name, { path, from: shownAudience(from), to: shownAudience(to), count })
  }

  all(): readonly VisibilityChange[] {
    return [...this.#counts.values()]
  }
}

function shownAudience(of: Audience): ShownAudience {
  return of.kind === 'shared' ? { kind: of.kind, federations: of.federations } : { kind: of.kind }
}

/** Numbers count entries. Paths are as the request wrote them, with what comes below. */
export interface IngestReport {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: readonly Skipped[]
  /** What is not in the store, and why. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  /** What is in the store otherwise than its file says, and why. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
  /** Of entries added or updated. */
  readonly chunks: number
  readonly visibility_changes: readonly VisibilityChange[]
}

/** A report that is being written. */
export class ReportDraft {
  readonly #counts: Written = { added: 0, updated: 0, unchanged: 0, deleted: 0, chunks: 0 }
  readonly #skipped: { path: string; reason: string }[] = []
  readonly #errors: { path: string; message: string }[] = []
  readonly #warnings: { path: string; message: string }[] = []
  readonly visibility: VisibilityChanges = new VisibilityChanges()

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

  warn(path: string, message: string): void {
    this.#warnings.push({ path, message })
  }

  finish(): IngestReport {
    const visibility_changes = this.visibility.all()
    const [skipped, errors, warnings] = [this.#skipped, this.#errors, this.#warnings]
    return { ...this.#counts, skipped, errors, warnings, visibility_changes }
  }
}
