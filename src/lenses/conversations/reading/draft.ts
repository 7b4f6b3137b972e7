/** From what a reader found to the normal form: ids, order, sessions, participants, profile. */
import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { storableText } from '../../../base/storable.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import type { Attachment, Conversation, Message, Profile, Role, Version } from '../model.ts'
import type { Findings, Place } from './findings.ts'
import { sessionsOf } from './sessions.ts'

const MAX_TITLE = 1_000

export interface MessageDraft {
  /** The export's own id, unique within the conversation; null where it has none. */
  readonly id: string | null
  readonly session?: string | null | undefined
  readonly speaker: string
  readonly role: Role | null
  readonly at: Instant | null
  readonly zone: number | null
  /** The time as the export wrote it, for ids: how it is understood may change with more of the export. */
  readonly written?: string | undefined
  /** The export's own id of the message it answers. */
  readonly replyTo?: string | null | undefined
  readonly text: string
  readonly attachments?: readonly Attachment[] | undefined
  readonly edited?: { readonly at: Instant | null } | undefined
  readonly deleted?: boolean | undefined
  readonly versions?: readonly Version[] | undefined
  readonly place: Place
}

export interface ConversationDraft {
  readonly id: string
  readonly title: string
  readonly messages: readonly MessageDraft[]
  /** Absent: told from the roles. */
  readonly profile?: Profile | undefined
  /** Whether the export gives their order; else they are put in order of time. */
  readonly isOrdered: boolean
}

/** Null when no message is left. `profile`: what the caller says it is. */
export function finished(draft: ConversationDraft, profile: Profile | null, findings: Findings): Conversation | null {
  const drafts = distinct(draft.isOrdered ? draft.messages : inTime(draft.messages), findings)
  if (drafts.length === 0) return null
  const conversation = fitting(draft.id)
  const ids = idsOf(conversation, drafts)
  const sessions = sessionsOf(
    drafts.map(({ session, at }, index) => ({ id: ids[index] as string, session: sessionOf(session), at })),
  )
  const messages = drafts.map(
    (one, position): Message => ({
      id: ids[position] as string,
      conversation,
      session: sessions[position] as string,
      position,
      speaker: speakerOf(one, findings),
      role: one.role,
      at: one.at,
      zone: one.zone,
      replyTo: one.replyTo === undefined || one.replyTo === null ? null : fitting(one.replyTo),
      text: one.deleted === true ? '' : textOf(one, findings),
      attachments: (one.attachments ?? []).map(storable),
      ...(one.edited !== undefined && { edited: one.edited }),
      deleted: one.deleted === true,
      versions: (one.versions ?? []).map(({ text, at }) => ({ text: storableText(text), at })),
    }),
  )
  const participants = [...new Set(messages.map(({ speaker }) => speaker).filter(name => name !== ''))]
  return {
    id: conversation,
    title: nameOf(draft.title).slice(0, MAX_TITLE).toWellFormed(),
    profile: profile ?? draft.profile ?? profileOf(messages),
    participants,
    messages,
  }
}

/** Of people, unless an assistant speaks. */
export function profileOf(messages: readonly Pick<Message, 'role'>[]): Profile {
  return messages.some(({ role }) => role === 'assistant') ? 'assistant' : 'people'
}

/** A short id of whatever tells something from its like. */
export function derivedId(...parts: readonly (string | number | null)[]): string {
  return sha256(canonicalJson(parts)).slice(0, 16)
}

/** The first of those that have one id; the others are reported. */
function distinct(drafts: readonly MessageDraft[], findings: Findings): readonly MessageDraft[] {
  const seen = new Set<string>()
  return drafts.filter(({ id, place }) => {
    if (id === null || !seen.has(id)) {
      if (id !== null) seen.add(id)
      return true
    }
    findings.problem(place, `the message id ${id} was there before`)
    return false
  })
}

/** Stable. What has no time stays behind the message before it. */
function inTime(drafts: readonly MessageDraft[]): readonly MessageDraft[] {
  let last = Number.NEGATIVE_INFINITY
  const timed = drafts.map(draft => {
    last = draft.at ?? last
    return { draft, at: last }
  })
  return timed.sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)).map(({ draft }) => draft)
}

/** Own ids; else made of conversation, time, speaker and content, and of how many such there were before. */
function idsOf(conversation: string, drafts: readonly MessageDraft[]): readonly string[] {
  const counts = new Map<string, number>()
  return drafts.map(draft => {
    if (draft.id !== null) return fitting(draft.id)
    const { speaker, text, attachments = [], written = draft.at } = draft
    const names = attachments.map(({ kind, name }) => `${kind} ${name ?? ''}`).join(' ')
    const like = derivedId(conversation, written, speaker, text, names)
    const before = counts.get(like) ?? 0
    counts.set(like, before + 1)
    return before === 0 ? like : `${like}-${before + 1}`
  })
}

function sessionOf(session: string | null | undefined): string | null {
  return session === undefined || session === null || session === '' ? null : fitting(session)
}

/** What is too long keeps its beginning and gets a hash of the whole. */
function fitting(id: string): string {
  const text = storableText(id)
  if (text.length <= MAX_ID_LENGTH) return text
  return `${text.slice(0, MAX_ID_LENGTH - 17).toWellFormed()}~${sha256(text).slice(0, 16)}`
}

function speakerOf({ speaker, place }: MessageDraft, findings: Findings): string {
  const name = nameOf(speaker)
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
  const plain = (text: string | null): string | null => (text === null || text === '' ? null : storableText(text))
  return { kind, caption: plain(caption), name: plain(name) }
}

/** Marks that only set the direction of writing, or a leading BOM, are no part of a name. */
export function nameOf(text: string): string {
  return storableText(text)
    .normalize('NFC')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
