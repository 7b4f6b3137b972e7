/** Types and counters for the report of an ingest, which says what happened to each file. */
import { type Audience, partitionKey } from '../model/partition.ts'
import type { Written } from './write-file.ts'

/** A file, or a part of a file, from which no entry was made. */
export interface Skipped {
  readonly path: string
  readonly reason: string
  /** Number of parts of the file that were skipped for this reason; absent: the file as a whole, or one part. */
  readonly count?: number | undefined
}

/** Number of entries made from an added path whose audience changed in one particular way. */
export interface VisibilityChange {
  readonly path: string
  readonly from: ShownAudience
  readonly to: ShownAudience
  readonly count: number
}

/** The audience of an entry as reports show it: without the name of the entry's holder. */
export interface ShownAudience {
  readonly kind: Audience['kind']
  /** Names of the federations with which the entry is shared; present only if the kind is `shared`. */
  readonly federations?: readonly string[] | undefined
}

/** Counts entries whose audience has changed, separately for each added path and each pair of old and new audience. */
export class VisibilityChanges {
  readonly #counts = new Map<string, VisibilityChange>()

  /** Counts one entry whose audience changed; does nothing if both audiences are equal. */
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

/** Result of an ingest. All numbers count entries, unless stated otherwise. Paths begin as the request wrote them. */
export interface IngestReport {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: readonly Skipped[]
  /** Files and parts of files that could not be read or stored, with the reasons. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  /** Files whose entries differ from what the file itself states (such as an invalid validity), with the reasons. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[]
  /** Number of chunks of the entries that were added or updated. */
  readonly chunks: number
  readonly visibility_changes: readonly VisibilityChange[]
}

/** Collects the report of an ingest while it is in progress. */
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
