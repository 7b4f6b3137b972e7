/** What every reader of a format is: pure, and mending what it can of what is broken. */
import type { ConversationDraft } from './draft.ts'
import type { ExportFile } from './export-file.ts'
import type { Findings } from './findings.ts'
import type { DateOrder } from './whatsapp-dates.ts'
import type { Zone } from './zones.ts'

export interface ReaderOptions {
  /** Of times that are written without one, and of days where only the moment is known. */
  readonly zone: Zone | null
  /** JSONL: our field to theirs. */
  readonly map: Readonly<Record<string, string>>
  /** Name of the conversation, for formats that hold one and do not name it. */
  readonly conversation: string | null
  /** WhatsApp: how its dates are written, where it shall not be told from them. */
  readonly dateOrder: DateOrder | null
}

/** Bad content is told to `findings`, never thrown. Throws `too_large`, and what reading a file's bytes throws. */
export type Reader = (
  files: readonly ExportFile[],
  options: ReaderOptions,
  findings: Findings,
) => AsyncIterable<ConversationDraft>
