/** Conversations of an export into the store: what is new is added, what was edited written again, what was deleted goes. */
import { nextTurn } from '../../base/next-turn.ts'
import type { EntryKey } from '../../model/entry.ts'
import { QuerentError } from '../../model/errors.ts'
import type { CallContext } from '../../model/operation.ts'
import { type Audience, audience, partitionKey } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import type { ChatNames, ChatOptions, ChatReport, ChatSettings, ExportFile } from '../lens.ts'
import type { Conversation, Message } from './model.ts'
import { Places } from './places.ts'
import { Findings } from './reading/findings.ts'
import { readConversations } from './reading/read.ts'
import { requoteAfter } from './requote.ts'
import { MESSAGES } from './tables.ts'
import { entryIdOf, ownMessage, type Placed, writeMessage } from './write-message.ts'

/** Messages of one transaction: others come to write in between. */
const BATCH = 500

/** `gone`: deleted messages that were not here. */
type Counts = Record<'added' | 'updated' | 'unchanged' | 'deleted' | 'gone' | 'chunks', number>

/** Throws for the request, never for what a file holds. */
export async function importConversations(
  store: Store,
  files: readonly ExportFile[],
  { date_order: dateOrder, ...options }: ChatOptions,
  settings: ChatSettings,
  names: ChatNames,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
): Promise<ChatReport> {
  const findings = new Findings()
  const counts: Counts = { added: 0, updated: 0, unchanged: 0, deleted: 0, gone: 0, chunks: 0 }
  const conflicts: { path: string; message: string }[] = []
  let done = 0
  for await (const conversation of readConversations(files, { ...options, dateOrder }, findings)) {
    for (const { part, audience } of partsOf(store, conversation, settings)) {
      const { length } = part.messages
      const places = new Places(part, audience)
      for (let at = 0; at < length; at += BATCH) {
        if (signal.aborted) throw stopped(counts)
        const end = Math.min(at + BATCH, length)
        await store.writeWhenFree(settings.now, writer => {
          const changed: Row[] = []
          for (const message of places.of(writer, at, end)) {
            const conflict = take(writer, message, { ...settings, audience }, counts, changed)
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
  }
  const { gone, ...made } = counts
  findings.leave('deleted message', gone)
  return { ...made, ...told(findings, names, conflicts) }
}

/**
 * The messages of a conversation by audience, each part in the order of the export. A message that is known keeps its
 * audience, and those of one audience must not be quoted by those of another.
 */
function partsOf(
  store: Store,
  conversation: Conversation,
  { given, audience: kept, holder }: ChatSettings,
): readonly { readonly part: Conversation; readonly audience: Audience }[] {
  if (given.audience !== undefined) return [{ part: conversation, audience: given.audience }]
  const known = store.read(reader => audiencesOf(reader, conversation.id, holder))
  const all = new Map([...known.values()].map(each => [partitionKey(each), each]))
  const [only = audience('private', holder)] = all.size === 1 ? all.values() : []
  const parts = new Map<string, { readonly audience: Audience; readonly messages: Message[] }>()
  for (const message of conversation.messages) {
    const of = known.get(entryIdOf(conversation.id, message.id)) ?? kept ?? only
    const part = parts.get(partitionKey(of)) ?? { audience: of, messages: [] }
    parts.set(partitionKey(of), part)
    part.messages.push(message)
  }
  return [...parts.values()].map(({ audience: of, messages }) => ({
    part: { ...conversation, messages },
    audience: of,
  }))
}

/** Of the holder's messages of a conversation, by id of their entries. */
function audiencesOf(reader: StoreReader, conversation: string, holder: string): ReadonlyMap<string, Audience> {
  const rows = reader.table(MESSAGES).scan({ conversation })
  const threads = new Map(rows.map(row => [row['entry'] as EntryKey, row['thread'] as string]))
  const ofThread = new Map<string, Audience | undefined>()
  const found = new Map<string, Audience>()
  for (const { key, id, holder: whose } of reader.identities([...threads.keys()])) {
    const thread = threads.get(key) as string
    if (whose !== holder) continue
    if (!ofThread.has(thread)) ofThread.set(thread, reader.entry(key)?.audience)
    const of = ofThread.get(thread)
    if (of !== undefined) found.set(id, of)
  }
  return found
}

/** What is in the way of the message, or null. `changed`: takes rows of what was deleted or is no more what it was. */
function take(
  writer: StoreWriter,
  message: Placed,
  { given, collection, tags, audience, now, moved }: ChatSettings & { readonly audience: Audience },
  counts: Counts,
  changed: Row[],
): string | null {
  try {
    const { conversation, id } = message
    const own = ownMessage(writer, entryIdOf(conversation, id), conversation, audience.holder)
    if (message.deleted) {
      if (own === undefined || !writer.delete(own.entry.key)) counts.gone++
      else {
        counts.deleted++
        changed.push(own.row)
      }
      return null
    }
    if (own !== undefined && given.audience === undefined && !isAlike(own.entry.audience, audience)) {
      return `${own.entry.id}: who may see it was changed meanwhile; add the export again`
    }
    const { change, chunks, rowBefore } = writeMessage(writer, message, own, {
      collection: given.collection ?? own?.entry.collection ?? collection ?? 'conversations',
      tags: given.tags ?? own?.entry.tags ?? tags ?? [],
      ...{ audience, now },
    })
    if (own !== undefined) moved(own.entry.audience, audience)
    if (change === 'updated' && rowBefore !== null) changed.push(rowBefore)
    counts[change]++
    counts.chunks += chunks
    return null
  } catch (error) {
    if (!(error instanceof QuerentError && error.code === 'conflict')) throw error
    return error.message
  }
}

function isAlike(one: Audience, other: Audience): boolean {
  return partitionKey(one) === partitionKey(other)
}

function told(
  findings: Findings,
  { shown, whole }: ChatNames,
  conflicts: ChatReport['errors'],
): Pick<ChatReport, 'skipped' | 'errors'> {
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
