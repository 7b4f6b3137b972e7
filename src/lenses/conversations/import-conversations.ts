/** Conversations of an export into the store: what is new is added, what was edited written again, what was deleted goes. */
import { nextTurn } from '../../base/next-turn.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import type { Row } from '../../model/table.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { Conversation } from './model.ts'
import { Places } from './places.ts'
import type { ExportFile } from './reading/export-file.ts'
import { Findings } from './reading/findings.ts'
import { type ReadingOptions, readConversations } from './reading/read.ts'
import { requoteAfter } from './requote.ts'
import { type EntrySettings, entryIdOf, ownMessage, type Placed, writeMessage } from './write-message.ts'

/** Messages of one transaction: others come to write in between. */
const BATCH = 500

export interface ImportReport {
  /** Numbers count messages. */
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  /** Of messages added or updated. */
  readonly chunks: number
  /** What was left out on purpose, by what it is, and how many there were. */
  readonly skipped: readonly { readonly path: string; readonly reason: string; readonly count: number }[]
  /** What could not be read, by line. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** `shown`: a file's path as the one who asked would write it; `whole`: that of all of them. */
export interface ImportNames {
  readonly shown: (path: string) => string
  readonly whole: string
}

/** `gone`: deleted messages that were not here. */
type Counts = Record<'added' | 'updated' | 'unchanged' | 'deleted' | 'gone' | 'chunks', number>

/** Throws for the request, never for what a file holds. */
export async function importConversations(
  store: Store,
  files: readonly ExportFile[],
  options: ReadingOptions,
  settings: EntrySettings,
  names: ImportNames,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
): Promise<ImportReport> {
  const findings = new Findings()
  const counts: Counts = { added: 0, updated: 0, unchanged: 0, deleted: 0, gone: 0, chunks: 0 }
  const conflicts: { path: string; message: string }[] = []
  let done = 0
  for await (const conversation of readConversations(files, options, findings)) {
    const { length } = conversation.messages
    const places = new Places(conversation, settings.audience)
    for (let at = 0; at < length; at += BATCH) {
      if (signal.aborted) throw stopped(counts)
      const end = Math.min(at + BATCH, length)
      await store.writeWhenFree(settings.now, writer => {
        const changed: Row[] = []
        for (const message of places.of(writer, at, end)) {
          const conflict = take(writer, message, settings, counts, changed)
          if (conflict !== null) conflicts.push({ path: names.whole, message: conflict })
        }
        // What comes after them may be no part of the export: it was remembered, or the export begins later.
        requoteAfter(writer, changed)
        places.written(writer)
      })
      done += end - at
      report?.({ phase: 'read', done, total: null, current: nameOf(conversation) })
      await nextTurn()
    }
  }
  const { gone, ...made } = counts
  findings.leave('deleted message', gone)
  return { ...made, ...told(findings, names, conflicts) }
}

/** What is in the way of the message, or null. `changed`: takes rows of what was deleted or is no more what it was. */
function take(
  writer: StoreWriter,
  message: Placed,
  settings: EntrySettings,
  counts: Counts,
  changed: Row[],
): string | null {
  try {
    if (message.deleted) {
      const { conversation, id } = message
      const own = ownMessage(writer, entryIdOf(conversation, id), conversation, settings.audience.holder)
      if (own === undefined || !writer.delete(own.entry.key)) counts.gone++
      else {
        counts.deleted++
        changed.push(own.row)
      }
      return null
    }
    const { change, chunks, rowBefore } = writeMessage(writer, message, settings)
    if (change === 'updated' && rowBefore !== null) changed.push(rowBefore)
    counts[change]++
    counts.chunks += chunks
    return null
  } catch (error) {
    if (!(error instanceof QuerentError && error.code === 'conflict')) throw error
    return error.message
  }
}

function told(
  findings: Findings,
  { shown, whole }: ImportNames,
  conflicts: ImportReport['errors'],
): Pick<ImportReport, 'skipped' | 'errors'> {
  const errors = findings.problems.map(({ path, line, at, message }) => {
    const where = [line === null ? '' : `line ${line}`, at ?? ''].filter(part => part !== '').join(', ')
    return { path: shown(path), message: where === '' ? message : `${where}: ${message}` }
  })
  const untold = findings.untold === 0 ? [] : [{ path: whole, message: `${findings.untold} more problems` }]
  const skipped = Object.entries(findings.left).map(([what, count]) => ({ path: whole, reason: what, count }))
  return { skipped, errors: [...errors, ...untold, ...conflicts] }
}

function nameOf({ title, id }: Conversation): string {
  return title === '' ? id : title
}

function stopped({ added, updated }: Counts): QuerentError {
  const message = 'adding conversations was stopped; what was written until then stays'
  return new QuerentError('cancelled', message, { added, updated })
}
