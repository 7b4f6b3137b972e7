/** From what a reader found to the normal form: ids, order, sessions, participants, profile. */
import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { storableText } from '../../../base/storable.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import type { Attachment, Conversation, Message, Profile } from '../model.ts'
import type { Findings } from './findings.ts'
import type { ConversationDraft, MessageDraft } from './reader.ts'

const MAX_TITLE = 1_000

/** Silence after which a new session begins: longer than a meal or a meeting, shorter than a night. */
export const SESSION_GAP_MS = 6 * 60 * 60 * 1000

/** Null when no message is left. `profile`: what the caller says it is. */
export function finished(draft: ConversationDraft, profile: Profile | null, findings: Findings): Conversation | null {
  const drafts = distinct(draft.isOrdered ? draft.messages : inTime(draft.messages), findings)
  if (drafts.length === 0) return null
  const conversation = idWithinLimit(draft.id)
  const ids = idsOf(conversation, drafts)
  const sessions = sessionsOf(drafts, ids)
  const messages = drafts.map((one, position): Message => {
    const { role, moment, replyTo, attachments = [], edited, deleted = false, versions = [] } = one
    return {
      id: ids[position] as string,
      conversation,
      session: sessions[position] as string,
      position,
      speaker: speakerOf(one, findings),
      role,
      at: moment?.at ?? null,
      zone: moment?.zone ?? null,
      replyTo: replyTo === undefined || replyTo === null ? null : idWithinLimit(replyTo),
      text: deleted ? '' : textOf(one, findings),
      attachments: attachments.map(storable),
      ...(edited !== undefined && { edited }),
      deleted,
      versions: versions.map(({ text, at }) => ({ text: storableText(text), at })),
    }
  })
  const isOfAssistant = messages.some(({ role }) => role === 'assistant')
  return {
    id: conversation,
    title: plainName(draft.title).slice(0, MAX_TITLE).toWellFormed(),
    profile: profile ?? draft.profile ?? (isOfAssistant ? 'assistant' : 'people'),
    participants: [...new Set(messages.map(({ speaker }) => speaker).filter(name => name !== ''))],
    messages,
  }
}

/** A short id of whatever distinguishes something from its like. */
export function derivedId(...parts: readonly (string | number | null)[]): string {
  return sha256(canonicalJson(parts)).slice(0, 16)
}

/** The first of those that have one id; the others are reported. */
function distinct(drafts: readonly MessageDraft[], findings: Findings): readonly MessageDraft[] {
  const seen = new Set<string>()
  return drafts.filter(({ id, place }) => {
    const isNew = id === null || !seen.has(id)
    if (!isNew) findings.problem(place, `the message id ${id} was there before`)
    if (id !== null) seen.add(id)
    return isNew
  })
}

/** Stable. What has no time stays behind the message before it. */
function inTime(drafts: readonly MessageDraft[]): readonly MessageDraft[] {
  let last = -Number.MAX_VALUE
  const timed = drafts.map(draft => {
    last = draft.moment?.at ?? last
    return { draft, at: last }
  })
  return timed.sort((a, b) => a.at - b.at).map(({ draft }) => draft)
}

/** Own ids; else made of conversation, time, speaker and content, and of how many such there were before. */
function idsOf(conversation: string, drafts: readonly MessageDraft[]): readonly string[] {
  const counts = new Map<string, number>()
  return drafts.map(draft => {
    if (draft.id !== null) return idWithinLimit(draft.id)
    const { speaker, text, attachments = [], written = draft.moment?.at ?? null } = draft
    const names = attachments.map(({ kind, name }) => `${kind} ${name ?? ''}`).join(' ')
    const like = derivedId(conversation, written, speaker, text, names)
    const count = (counts.get(like) ?? 0) + 1
    counts.set(like, count)
    return count === 1 ? like : `${like}-${count}`
  })
}

/**
 * A session for each message, in order: the export's own, else named by its first message, so that it keeps its name when
 * a longer export has more messages after it. A message without a time stays in the session of the one before.
 */
function sessionsOf(drafts: readonly MessageDraft[], ids: readonly string[]): readonly string[] {
  let current: string | null = null
  let isOwn = false
  let last: Instant | null = null
  return drafts.map(({ session, moment }, index) => {
    const isPause = last !== null && moment !== null && moment.at - last > SESSION_GAP_MS
    last = moment?.at ?? last
    const isNamed = session !== undefined && session !== null && session !== ''
    if (isNamed) current = idWithinLimit(session)
    else if (current === null || isOwn || isPause) current = ids[index] as string
    isOwn = isNamed
    return current
  })
}

/** What is too long keeps its beginning and gets a hash of the whole. */
export function idWithinLimit(id: string): string {
  const text = storableText(id)
  if (text.length <= MAX_ID_LENGTH) return text
  return `${text.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(text).slice(0, 16)}`
}

function speakerOf({ speaker, place }: MessageDraft, findings: Findings): string {
  const name = plainName(speaker)
  if (name.length <= MAX_NAME_LENGTH) return name
  findings.problem(place, `the name of the speaker is longer than ${MAX_NAME_LENGTH} characters; the rest was left out`)
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed()
}

function textOf({ text, place }: MessageDraft, findings: Findings): string {
  if (text.length <= MAX_CONTENT_LENGTH) return storableText(text)
  findings.problem(place, `the text is longer than ${MAX_CONTENT_LENGTH} characters; the rest of it was left out`)
  return storableText(text.slice(0, MAX_CONTENT_LENGTH))
}

function storable({ kind, caption, name }: Attachment): Attachment {
  return { kind, caption: storableText(caption ?? '') || null, name: storableText(name ?? '') || null }
}

/** Marks that only set the direction of writing, or a leading BOM, are no part of a name. */
export function plainName(text: string): string {
  return storableText(text)
    .normalize('NFC')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
