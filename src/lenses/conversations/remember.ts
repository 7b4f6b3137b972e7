/** The operation that stores one message or note at the end of its conversation. */
import { z } from 'zod'
import { v4Id } from '../../base/canonical.ts'
import type { Instant } from '../../base/clock.ts'
import type { ReadonlyDeep } from '../../base/readonly-deep.ts'
import type { EntryKey } from '../../model/entry.ts'
import { keptText } from '../../model/entry-input.ts'
import { invalidArgument } from '../../model/errors.ts'
import { toInstant, toIso } from '../../model/instant.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH, MAX_TAGS } from '../../model/limits.ts'
import { type Audience, audience } from '../../model/partition.ts'
import { instantInput } from '../../model/query-input.ts'
import type { Row } from '../../model/table.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import type { LensHost } from '../lens.ts'
import { type Attachment, type Message, type Profile, ROLES, type Role } from './model.ts'
import { dayOf, relativeDates } from './reading/dates.ts'
import { plainName, SESSION_GAP_MS } from './reading/reader.ts'
import { lastOf, messageRows, messagesOf, threadOf } from './tables.ts'
import {
  type EntrySettings,
  entryIdOf,
  type OwnMessage,
  ownMessage,
  type Placed,
  reindexFollowers,
  saidIn,
  writeMessage,
} from './write-message.ts'

const name = z.string().trim().min(1).max(MAX_NAME_LENGTH)
const id = keptText(z.string().min(1).max(MAX_ID_LENGTH))

export const rememberInput = z.strictObject({
  text: keptText(z.string().min(1).max(MAX_CONTENT_LENGTH)).describe(
    `Message or note, 1 to ${MAX_CONTENT_LENGTH} characters`,
  ),
  speaker: keptText(z.string().trim().max(MAX_NAME_LENGTH)).optional().describe('Speaker. Default: none'),
  conversation: id.optional().describe('Id of its conversation. Default: notes'),
  at: instantInput
    .optional()
    .describe('Time of the message: ISO 8601 with a zone, a date, or milliseconds since 1970. Default: now'),
  role: z
    .enum([...ROLES])
    .optional()
    .describe('Role of the speaker in a chat with an assistant. Default: none'),
  session: id
    .optional()
    .describe('Id of its session. Default: that of the previous message if it is less than six hours old'),
  reply_to: id.optional().describe('Id of the message it answers, within the conversation. Default: none'),
  id: id
    .optional()
    .describe('Id within the conversation; your own message with this id gets the new text. Default: a new random id'),
  profile: z
    .enum(['people', 'assistant'])
    .optional()
    .describe('Who takes part. Default: unchanged; assistant if a role is given'),
  collection: name.optional().describe('Collection of the entry. Default: conversations'),
  tags: z.array(name).max(MAX_TAGS).optional().describe('Tags. Default: none'),
  visibility: z
    .enum(['private', 'public', 'shared'])
    .optional()
    .describe('Who else may see it. Default: unchanged; private for a new message'),
  federations: z
    .array(name)
    .max(100)
    .optional()
    .describe('With visibility shared: ids of the federations whose members may see it. Default: none'),
  wait: z.boolean().optional().describe('Wait until it has a vector. Default: false; words find it at once'),
})
type RememberInput = ReadonlyDeep<z.output<typeof rememberInput>>

export const rememberOutput = z.strictObject({
  id: z.string().describe('Id of the entry'),
  conversation: z.string().describe('Id of its conversation'),
  session: z.string().describe('Id of its session'),
  position: z.int().describe('Within the conversation, from 0'),
  at: z.string().describe('Time of the message, ISO 8601 in UTC'),
  created: z.boolean().describe('False: it existed already'),
})

/** Name of the conversation for notes that do not name one. */
const NOTES = 'notes'

/** Stores a message. It is safely written when the call returns; its vectors are made later in the background. */
export async function remember(
  host: Pick<LensHost, 'store' | 'clock' | 'random'>,
  input: RememberInput,
  viewer: Viewer,
): Promise<{ readonly key: EntryKey; readonly answer: z.output<typeof rememberOutput> }> {
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
    // The message may have been moved from another audience, where the index texts of messages after it still quote it; these are indexed
    // again.
    if (own !== undefined && change === 'updated') reindexFollowers(writer, [own.row, ...messageRows(writer, [key])])
    const { session, position } = message
    const answer = { id: entryIdOf(conversation, id), conversation, session, position }
    return { key, answer: { ...answer, at: toIso(message.at ?? now), created: change === 'added' } }
  })
}

/** Audience of the stored message: the requested one; otherwise the one that the message already has; a new message is private. */
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
  }
  return {
    ...message,
    profile: profile ?? profileAfter(own ?? last, ownRole),
    title: (before?.entry.metadata['conversation_title'] as string | undefined) ?? '',
    dates: relativeDates(text, dayOf(at, zone)),
    before: last?.['session'] === inSession ? saidIn(writer, last) : null,
  }
}

/**
 * Id of the message that an existing message answers, without the name of the conversation; null where it answers none, or one of another
 * conversation.
 */
function answeredBy(own: Row | undefined): string | null {
  const replyTo = own?.['reply_to'] as string | null | undefined
  const start = `${own?.['conversation']}/`
  return replyTo?.startsWith(start) === true ? replyTo.slice(start.length) : null
}

function rowBefore(reader: StoreReader, { thread, position }: Row): Row | undefined {
  return messagesOf(reader, thread as string).findLast(each => Number(each['position']) < Number(position))
}

/**
 * Session for a message at the end of a conversation: that of the last message; a new session where the times are more than 6 hours apart.
 */
function sessionAfter(last: Row | undefined, at: Instant, id: string): string {
  const before = last?.['at']
  const isNear = typeof before !== 'number' || Math.abs(at - before) <= SESSION_GAP_MS
  return last !== undefined && isNear ? (last['session'] as string) : id
}

function profileAfter(last: Row | undefined, role: Role | null): Profile {
  return (last?.['profile'] as Profile | undefined) ?? (role === null ? 'people' : 'assistant')
}
