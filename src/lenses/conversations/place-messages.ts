/**
 * Where the messages of an export stand in what is known of their conversation. An export may begin later than one before
 * it did, and what was remembered since may lie behind it: messages that are known keep their place and their session.
 */
import type { EntryKey } from '../../model/entry.ts'
import type { Audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import type { StoreReader } from '../../store/store.ts'
import { bodyOf, type Said } from './indexed-text.ts'
import type { Conversation, Message } from './model.ts'
import { resolvedDates } from './reading/dates-in-text.ts'
import { saidIn } from './requote.ts'
import { messagesOf, threadOf } from './thread.ts'
import { entryIdOf, type Placed } from './write-message.ts'

export function placedMessages(reader: StoreReader, conversation: Conversation, audience: Audience): readonly Placed[] {
  const { id, title, profile, messages } = conversation
  const rows = messagesOf(reader, threadOf(id, audience))
  const known = rowsById(reader, rows)
  const knownAs = messages.map(message => known.get(entryIdOf(id, message.id)))
  const shift = shiftOf(
    messages.map(({ position }) => position),
    knownAs,
    rows,
  )
  const sessions = new Map<string, string>()
  for (const [at, { session }] of messages.entries()) {
    const row = knownAs[at]
    if (row !== undefined && !sessions.has(session)) sessions.set(session, row['session'] as string)
  }
  const positions = positionsOf(messages, knownAs, rows, shift)
  const dates = resolvedDates(conversation)
  const first = sessions.get(messages[0]?.session ?? '') ?? ''
  let before = shift === 0 ? null : lastSaid(reader, rows, shift, first)
  let session = before === null ? null : first
  return messages.map((message, at) => {
    const own = sessions.get(message.session) ?? message.session
    const said = session === own ? before : null
    session = own
    if (!message.deleted) before = { speaker: message.speaker, body: bodyOf(message) }
    else if (said === null) before = null
    const position = positions[at] as number
    return { ...message, position, session: own, profile, title, dates: dates[at] ?? [], before: said }
  })
}

function rowsById(reader: StoreReader, rows: readonly Row[]): ReadonlyMap<string, Row> {
  const byEntry = new Map(rows.map(row => [row['entry'] as EntryKey, row]))
  const identities = reader.identities([...byEntry.keys()])
  return new Map(identities.map(({ id, key }) => [id, byEntry.get(key) as Row]))
}

/** How much later a message stands in the thread than in the export. */
function shiftOf(positions: readonly number[], knownAs: readonly (Row | undefined)[], rows: readonly Row[]): number {
  const at = knownAs.findIndex(row => row !== undefined)
  if (at >= 0) return Math.max(0, Number(knownAs[at]?.['position']) - (positions[at] as number))
  const last = rows.at(-1)
  return last === undefined ? 0 : Number(last['position']) + 1
}

/**
 * In order, each its own. What is known keeps its position where that is behind the one before; none takes that of a message
 * which is no part of the export: it was remembered, or the export leaves it out.
 */
function positionsOf(
  messages: readonly Message[],
  knownAs: readonly (Row | undefined)[],
  rows: readonly Row[],
  shift: number,
): readonly number[] {
  const own = new Set(knownAs)
  const taken = new Set(rows.filter(row => !own.has(row)).map(row => Number(row['position'])))
  let ahead = shift
  let last = -1
  return messages.map(({ position }, at) => {
    const before = knownAs[at]?.['position']
    let next = before !== undefined && Number(before) > last ? Number(before) : Math.max(last + 1, position + ahead)
    while (taken.has(next)) next++
    ahead = next - position
    last = next
    return next
  })
}

/** What was said before that position in the session. */
function lastSaid(reader: StoreReader, rows: readonly Row[], position: number, session: string): Said | null {
  const row = rows.findLast(each => Number(each['position']) < position && each['session'] === session)
  return row === undefined ? null : saidIn(reader, row)
}
