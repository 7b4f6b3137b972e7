/** One message or note behind the last one of its conversation. */
import type { Instant } from '../../base/clock.ts'
import { v4Id } from '../../base/random-id.ts'
import type { EntryKey } from '../../model/entry.ts'
import { invalidArgument } from '../../model/errors.ts'
import { toInstant, toIso } from '../../model/instant.ts'
import { type Audience, audience } from '../../model/partition.ts'
import type { Row } from '../../model/table.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import type { Attachment, Message, Profile, Role, Version } from './model.ts'
import { dayOf } from './reading/dates.ts'
import { relativeDates } from './reading/dates-in-text.ts'
import { plainName, SESSION_GAP_MS } from './reading/draft.ts'
import { messageRows, requoteAfter, saidIn } from './requote.ts'
import { lastOf, messagesOf, threadOf } from './thread.ts'
import {
  type EntrySettings,
  entryIdOf,
  type OwnMessage,
  ownMessage,
  type Placed,
  writeMessage,
} from './write-message.ts'

export interface RememberInput {
  readonly text: string
  readonly speaker?: string | undefined
  readonly conversation?: string | undefined
  readonly at?: string | number | undefined
  readonly role?: Role | undefined
  readonly session?: string | undefined
  readonly reply_to?: string | undefined
  readonly id?: string | undefined
  readonly profile?: Profile | undefined
  readonly collection?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly visibility?: 'private' | 'public' | 'shared' | undefined
  readonly federations?: readonly string[] | undefined
  readonly wait?: boolean | undefined
}

export interface Remembered {
  /** Of the entry. */
  readonly id: string
  readonly conversation: string
  readonly session: string
  readonly position: number
  readonly at: string
  /** False: a message of this id was there, and has this text now. */
  readonly created: boolean
}

/** Where notes go that name no conversation. */
export const NOTES = 'notes'

/** Durable when it returns; the entry's vectors follow. */
export async function remember(
  host: Pick<LensHost, 'store' | 'clock' | 'random'>,
  input: RememberInput,
  viewer: Viewer,
): Promise<{ readonly key: EntryKey; readonly answer: Remembered }> {
  const now = host.clock.now()
  const { text, federations } = input
  if (text.trim() === '') throw invalidArgument('text', text, 'a message that is more than blanks')
  if (input.visibility !== 'shared' && federations !== undefined) {
    throw invalidArgument('federations', federations, 'no federations unless visibility is shared')
  }
  const id = input.id ?? v4Id(host.random)
  const at = input.at === undefined ? null : toInstant(input.at, 'at')
  return host.store.writeWhenFree(now, writer => {
    const { conversation = NOTES } = input
    const own = ownMessage(writer, entryIdOf(conversation, id), conversation, viewer.id)
    const whose = audienceOf(input, own, viewer)
    const { collection = own?.entry.collection ?? 'conversations', tags = own?.entry.tags ?? [] } = input
    const settings = { collection, tags: [...new Set(tags)], audience: whose, now }
    const message = messageOf(writer, input, own, { id, conversation, at }, settings)
    const { key, change } = writeMessage(writer, message, own, settings)
    // It may have stood among those of another audience.
    if (own !== undefined && change === 'updated') requoteAfter(writer, [own.row, ...messageRows(writer, [key])])
    const { session, position } = message
    const answer = { id: entryIdOf(conversation, id), conversation, session, position }
    return { key, answer: { ...answer, at: toIso(message.at ?? now), created: change === 'added' } }
  })
}

/** As it was, unless said otherwise; of a new message private. */
function audienceOf({ visibility, federations }: RememberInput, own: OwnMessage | undefined, viewer: Viewer): Audience {
  const before = own?.entry.audience
  const isSame = visibility === undefined || (visibility === before?.kind && federations === undefined)
  return isSame && before !== undefined ? before : audience(visibility ?? 'private', viewer.id, federations)
}

function messageOf(
  writer: StoreWriter,
  { text, speaker, role, session, reply_to: replyTo, profile }: RememberInput,
  before: OwnMessage | undefined,
  { id, conversation, at: given }: { readonly id: string; readonly conversation: string; readonly at: Instant | null },
  { audience, now }: EntrySettings,
): Placed {
  const own = before?.row
  const thread = threadOf(conversation, audience)
  const isHere = own !== undefined && own['thread'] === thread
  const last = isHere ? rowBefore(writer, own) : lastOf(writer, thread)
  const at = given ?? (own?.['at'] as Instant | null | undefined) ?? now
  const inSession = session ?? (isHere ? (own['session'] as string) : sessionAfter(last, at, id))
  const zone = given === null ? ((own?.['zone'] as number | null | undefined) ?? null) : null
  const ownRole = role ?? (own?.['role'] as Role | null | undefined) ?? null
  const message: Message = {
    id,
    conversation,
    session: inSession,
    position: isHere ? Number(own['position']) : last === undefined ? 0 : Number(last['position']) + 1,
    speaker: speaker === undefined ? ((own?.['speaker'] as string | undefined) ?? '') : plainName(speaker),
    role: ownRole,
    at,
    zone,
    replyTo: replyTo ?? answeredBy(own),
    text,
    attachments: (before?.entry.metadata['attachments'] ?? []) as unknown as readonly Attachment[],
    ...(before?.entry.metadata['edited'] === true && { edited: { at: null } }),
    deleted: false,
    versions: (before?.entry.metadata['versions'] ?? []) as unknown as readonly Version[],
  }
  return {
    ...message,
    profile: profile ?? profileAfter(own ?? last, ownRole),
    title: (before?.entry.metadata['conversation_title'] as string | undefined) ?? '',
    dates: relativeDates(text, dayOf(at, zone)),
    before: last?.['session'] === inSession ? saidIn(writer, last) : null,
  }
}

/** The id, within the conversation, of the message it answers. */
function answeredBy(own: Row | undefined): string | null {
  const replyTo = own?.['reply_to'] as string | null | undefined
  const start = `${own?.['conversation']}/`
  return replyTo?.startsWith(start) === true ? replyTo.slice(start.length) : null
}

function rowBefore(reader: StoreReader, { thread, position }: Row): Row | undefined {
  return messagesOf(reader, thread as string).findLast(each => Number(each['position']) < Number(position))
}

/** That of the last message, unless there was a long silence. */
function sessionAfter(last: Row | undefined, at: Instant, id: string): string {
  const before = last?.['at']
  const isNear = typeof before !== 'number' || Math.abs(at - before) <= SESSION_GAP_MS
  return last !== undefined && isNear ? (last['session'] as string) : id
}

function profileAfter(last: Row | undefined, role: Role | null): Profile {
  return (last?.['profile'] as Profile | undefined) ?? (role === null ? 'people' : 'assistant')
}
