/** What every reader of a format takes and yields. A reader is pure, and takes what it can of what is broken. */
import type { Attachment, Profile, Role, Version } from '../model.ts'
import type { Moment, Zone } from './dates.ts'
import type { ExportFile } from './export-file.ts'
import type { Findings, Place } from './findings.ts'

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

/** Kind of an attachment, by its media type. */
export function kindOfType(type: string): string {
  return /^(image|audio|video)\//.exec(type)?.[1] ?? 'document'
}
