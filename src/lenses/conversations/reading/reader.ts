/** What every reader of a format takes and yields. A reader is pure, and takes what it can of what is broken. */
import type { Attachment, Profile, Role, Version } from '../model.ts'
import type { Moment, Zone } from './dates.ts'
import type { ExportFile } from './export-file.ts'

/** Which comes first, day or month. */
export type DateOrder = 'day-first' | 'month-first'

export interface ReaderOptions {
  /** Of times that are written without one, and of days where only the moment is known. */
  readonly zone: Zone | null
  /** JSONL: our field to theirs. */
  readonly map: Readonly<Record<string, string>>
  /** Name of the conversation, for formats that hold one and do not name it. */
  readonly conversation: string | null
  /** WhatsApp: how its dates are written; null: as they show themselves. */
  readonly dateOrder: DateOrder | null
}

/** Bad content goes to `findings` and is never thrown. Throws `too_large`, and what reading a file's bytes throws. */
export type Reader = (
  files: readonly ExportFile[],
  options: ReaderOptions,
  findings: Findings,
) => AsyncIterable<ConversationDraft>

export interface MessageDraft {
  /** The export's own id, unique within the conversation; null where it has none. */
  readonly id: string | null
  readonly session?: string | null | undefined
  readonly speaker: string
  readonly role: Role | null
  readonly moment: Moment | null
  /** The time as the export wrote it, for ids: how it is understood may change with more of the export. */
  readonly written?: string | undefined
  /** The export's own id of the message it answers. */
  readonly replyTo?: string | null | undefined
  readonly text: string
  readonly attachments?: readonly Attachment[] | undefined
  readonly edited?: { readonly at: number | null } | undefined
  readonly deleted?: boolean | undefined
  readonly versions?: readonly Version[] | undefined
  readonly place: Place
}

export interface ConversationDraft {
  readonly id: string
  readonly title: string
  readonly messages: readonly MessageDraft[]
  /** Absent: by the roles. */
  readonly profile?: Profile | undefined
  /** Whether the export gives their order; else they are put in order of time. */
  readonly isOrdered: boolean
}

export interface Place {
  readonly path: string
  /** From 1; null or absent when it concerns the whole file. */
  readonly line?: number | null | undefined
  /** Within the line or the file: a path of JSON (`[3].mapping.abc`), or the number of a mail. */
  readonly at?: string | null | undefined
}

export interface Problem {
  readonly path: string
  readonly line: number | null
  readonly at: string | null
  readonly message: string
}

/** Listed for one export; more are counted. */
const MAX_PROBLEMS = 1_000
/** Characters of one: what a file holds may be quoted in it. */
const MAX_MESSAGE = 500
/** Names in a list of what was left out. */
const MAX_NAMED = 10

/** What a reader could not read, and what it left out on purpose: nothing is dropped in silence. */
export class Findings {
  readonly problems: Problem[] = []
  /** Problems beyond those listed. */
  unlisted = 0
  readonly #left = new Map<string, number>()

  problem({ path, line = null, at = null }: Place, message: string): void {
    if (this.problems.length >= MAX_PROBLEMS) {
      this.unlisted++
      return
    }
    const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
    this.problems.push({ path, line, at, message: short.toWellFormed() })
  }

  /** Something that is no message (a person joined, a call was missed), by what it is. */
  leave(what: string, count = 1): void {
    if (count > 0) this.#left.set(what, (this.#left.get(what) ?? 0) + count)
  }

  /** How many of each were left out because they are no messages. */
  get left(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#left)
  }
}

/** Kind of an attachment, by its media type. */
export function kindOfType(type: string): string {
  return /^(image|audio|video)\//.exec(type)?.[1] ?? 'document'
}

/** The first ten, and a sign that there are more. */
export function listed(all: Iterable<string>): string {
  const names = [...all]
  return [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ')
}
