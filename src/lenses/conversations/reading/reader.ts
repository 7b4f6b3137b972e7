/** The interface of the readers of chat export formats. A reader has no side effects, and reads as much of a broken file as it can. */

import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { storableText } from '../../../base/storable.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import type { ExportFile as GivenFile } from '../../lens.ts'
import type { Attachment, Conversation, Message, Profile, Role } from '../model.ts'
import type { Moment, Zone } from './dates.ts'

// Collects findings about an export: what a reader could not read, and what it left out on purpose.

export interface Place {
  readonly path: string
  /** Line of the file where the problem is, from 1; null or absent when it concerns the whole file. */
  readonly line?: number | null | undefined
  /** Place of the problem within the line or file: a JSON path (`[3].mapping.abc`), or the number of a mail. */
  readonly at?: string | null | undefined
}

export interface Problem {
  readonly path: string
  readonly line: number | null
  readonly at: string | null
  readonly message: string
}

/** Largest number of problems listed for one export; further problems are only counted. */
const MAX_PROBLEMS = 1_000
/** Longest message about a problem, in characters; the message may quote the file. */
const MAX_MESSAGE = 500
/** Number of names of left-out records that are listed as examples. */
const MAX_NAMED = 10

/** Collects what a reader could not read, and what it left out on purpose, so that nothing is dropped silently. */
export class Findings {
  readonly problems: Problem[] = []
  /** Number of problems beyond those listed, which are limited. */
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

  /** Counts a record that is no message (a person joined, a call was missed), by its kind. */
  leave(what: string, count = 1): void {
    if (count > 0) this.#left.set(what, (this.#left.get(what) ?? 0) + count)
  }

  /** Counts, by kind, of records that were left out because they are not messages. */
  get left(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#left)
  }
}

/** The first ten names joined into a text, with an ellipsis when there are more. */
export function listed(all: Iterable<string>): string {
  const names = [...all]
  return [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ')
}

// A file of an export as readers see it: bytes, text, lines. The engine opens files, since a lens has no access to the disk.

export type ExportFile = GivenFile

/**
 * Largest file, in bytes, of a format whose reader holds all messages in memory until the end; importers of other records use the same
 * limit.
 */
export const MAX_HELD_BYTES = 256 * 1024 * 1024
/**
 * Largest record (a line, a conversation with an assistant, a mail), in bytes. A larger line or conversation is reported and skipped; a
 * larger mail is reported and read only up to this size.
 */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Name of the folder directly above the file; empty where the path contains no folder. */
export function folderOf(path: string): string {
  return path.split('/').at(-2) ?? ''
}

/** Extension of the file name in lower case, without the dot; empty where there is none. */
export function extensionOf(path: string): string {
  const name = nameOf(path)
  return name.slice(withoutExtension(path).length + 1).toLowerCase()
}

export function withoutExtension(path: string): string {
  return nameOf(path).replace(/(?<=.)\.[^.]*$/s, '')
}

/** Throws `invalid_argument` where a path occurs twice among the files of an export, since a path identifies a file. */
export function requireDistinct(files: readonly ExportFile[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) throw invalidArgument('files', path, 'every path once')
    seen.add(path)
  }
}

/** The first `max` bytes of the file, or all bytes of a shorter file. */
export async function firstBytes(file: ExportFile, max: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const bytes of file.bytes()) {
    parts.push(bytes)
    length += bytes.length
    if (length >= max) break
  }
  return Buffer.concat(parts).subarray(0, max)
}

/** Makes a decoder for a file's text: UTF-8, or UTF-16 where the file begins with the byte order mark for it. */
export function decoderFor(bytes: Uint8Array): InstanceType<typeof TextDecoder> {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return new TextDecoder(!isUtf16 ? 'utf-8' : bytes[0] === 0xff ? 'utf-16le' : 'utf-16be')
}

/**
 * Decodes a file's text in pieces, without a byte order mark. Invalid bytes become U+FFFD, which is reported once per file. Bytes beyond
 * `max` are not read, which is reported too.
 */
export async function* textPieces(
  file: ExportFile,
  findings: Findings,
  max: number = Number.POSITIVE_INFINITY,
): AsyncIterable<string> {
  const decoder = decoderFor(await firstBytes(file, 2))
  let isBroken = false
  const checked = (text: string): string => {
    if (!isBroken && text.includes('\ufffd')) {
      isBroken = true
      findings.problem({ path: file.path }, 'parts of it are not UTF-8 or UTF-16 text; they were replaced by U+FFFD')
    }
    return text
  }
  let length = 0
  for await (const bytes of file.bytes()) {
    length += bytes.length
    if (length > max) {
      findings.problem({ path: file.path }, `larger than ${max} bytes: what comes after them was not read`)
      break
    }
    yield checked(decoder.decode(bytes, { stream: true }))
  }
  yield checked(decoder.decode())
}

export interface Line {
  /** Number of the line in its file, from 1. */
  readonly number: number
  readonly text: string
  /** Number of characters of the line beyond `max`; `text` does not contain them. */
  readonly dropped: number
}

/** Lines of a file. They end with LF or CR LF; the last may end with neither. `max`: number of characters kept of one line. */
export async function* linesOf(
  pieces: AsyncIterable<string> | Iterable<string>,
  max: number = Number.POSITIVE_INFINITY,
): AsyncIterable<Line> {
  let number = 1
  let text = ''
  let dropped = 0
  const taken = (): Line => {
    const line = { number: number++, text: text.endsWith('\r') ? text.slice(0, -1) : text, dropped }
    text = ''
    dropped = 0
    return line
  }
  for await (const piece of pieces) {
    for (const [at, part] of piece.split('\n').entries()) {
      if (at > 0) yield taken()
      const room = max - text.length
      text += part.slice(0, room)
      dropped += Math.max(0, part.length - room)
    }
  }
  if (text !== '' || dropped > 0) yield taken()
}

/** Whether the day or the month comes first in the dates of an export. */
export type DateOrder = 'day-first' | 'month-first'

export interface ReaderOptions {
  /** Time zone of times without one, also used to find the calendar day of a message whose writer's time zone is unknown. */
  readonly zone: Zone | null
  /** For JSONL: a map from message fields to the names of the record's fields. */
  readonly map: Readonly<Record<string, string>>
  /** Name of the conversation, for formats that hold one conversation and do not name it. */
  readonly conversation: string | null
  /** For WhatsApp: whether the day or the month comes first in dates; null: derived from the dates. */
  readonly dateOrder: DateOrder | null
}

/**
 * A reader of one export format. Problems in the content are added to `findings`, never thrown. Throws `too_large`, and errors of reading
 * the file.
 */
export type Reader = (
  files: readonly ExportFile[],
  options: ReaderOptions,
  findings: Findings,
) => AsyncIterable<ConversationDraft>

export interface MessageDraft {
  /** Id that the export gives the message, unique within the conversation; null where it gives none. */
  readonly id: string | null
  readonly session?: string | null | undefined
  readonly speaker: string
  readonly role: Role | null
  readonly moment: Moment | null
  /**
   * The time exactly as the export writes it. Ids are derived from this text, since a longer export may lead to another reading of the same
   * date.
   */
  readonly written?: string | undefined
  /** Id, in the export, of the message that is answered by this one; null: this one is no answer. */
  readonly replyTo?: string | null | undefined
  readonly text: string
  readonly attachments?: readonly Attachment[] | undefined
  readonly edited?: { readonly at: number | null } | undefined
  readonly deleted?: boolean | undefined
  readonly place: Place
}

export interface ConversationDraft {
  readonly id: string
  readonly title: string
  readonly messages: readonly MessageDraft[]
  /** Kind of conversation (`people` or `assistant`); absent: derived from the roles of the speakers. */
  readonly profile?: Profile | undefined
  /** Whether the export gives the order of messages; otherwise they are sorted by time. */
  readonly isOrdered: boolean
}

/** Kind of an attachment by its media type: `image`, `audio`, `video`, or `document` for all others. */
export function kindOfType(type: string): string {
  return /^(image|audio|video)\//.exec(type)?.[1] ?? 'document'
}

// Converts what a reader found to the common form of conversations: ids, order, sessions, kind of conversation.

const MAX_TITLE = 1_000

/**
 * Pause between two messages after which a new session begins, in milliseconds (6 hours): longer than a meal or a meeting, shorter than a
 * night.
 */
export const SESSION_GAP_MS = 6 * 60 * 60 * 1000

/**
 * Converts a conversation from a reader to the common form; null when it has no message. `profile`: kind of conversation that the caller
 * requires; null: derived.
 */
export function finished(draft: ConversationDraft, profile: Profile | null, findings: Findings): Conversation | null {
  const drafts = distinct(draft.isOrdered ? draft.messages : inTime(draft.messages), findings)
  if (drafts.length === 0) return null
  const conversation = idWithinLimit(draft.id)
  const ids = idsOf(conversation, drafts)
  const sessions = sessionsOf(drafts, ids)
  const messages = drafts.map((one, position): Message => {
    const { role, moment, replyTo, attachments = [], edited, deleted = false } = one
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
    }
  })
  const isOfAssistant = messages.some(({ role }) => role === 'assistant')
  return {
    id: conversation,
    title: plainName(draft.title).slice(0, MAX_TITLE).toWellFormed(),
    profile: profile ?? draft.profile ?? (isOfAssistant ? 'assistant' : 'people'),
    messages,
  }
}

/** A short id derived by hashing the values that identify a thing: 16 hexadecimal digits of SHA-256. */
export function derivedId(...parts: readonly (string | number | null)[]): string {
  return sha256(canonicalJson(parts)).slice(0, 16)
}

/** Keeps the first of several messages with the same id; the others are reported as problems. */
function distinct(drafts: readonly MessageDraft[], findings: Findings): readonly MessageDraft[] {
  const seen = new Set<string>()
  return drafts.filter(({ id, place }) => {
    const isNew = id === null || !seen.has(id)
    if (!isNew) findings.problem(place, `the message id ${id} occurred before`)
    if (id !== null) seen.add(id)
    return isNew
  })
}

/**
 * Sorts messages by time. A message without a time stays directly after the message before it, and messages with equal times keep their
 * order.
 */
function inTime(drafts: readonly MessageDraft[]): readonly MessageDraft[] {
  let last = -Number.MAX_VALUE
  const timed = drafts.map(draft => {
    last = draft.moment?.at ?? last
    return { draft, at: last }
  })
  return timed.sort((a, b) => a.at - b.at).map(({ draft }) => draft)
}

/**
 * Ids of messages: the export's own ids; otherwise derived from conversation, time, speaker and content, with a number added where an equal
 * message came before.
 */
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
 * Names of the sessions of messages, in order: the export's own; otherwise the id of the session's first message, so that a session keeps
 * its name in a longer export. A message without a time stays in the session of the message before it.
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

/** The id itself; an id that is too long is cut, and ends with a hash of the whole. */
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

/** Removes marks that only set the writing direction, and a leading byte order mark, from a name. */
export function plainName(text: string): string {
  return storableText(text)
    .normalize('NFC')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

// In exports of chats with an assistant, messages form a tree: it branches where a message was edited or an answer was generated again. The
// branch that the program shows becomes the conversation; messages of other branches are only counted.

export interface TreeNode {
  readonly id: string
  readonly parent: string | null
  /** Message of the tree's node; null for a node without a message (a root, a hidden node). */
  readonly draft: MessageDraft | null
}

interface Branch {
  /** Messages of the branch that the chat program shows, in order. */
  readonly messages: readonly MessageDraft[]
  /** Number of messages in the other branches, which are left out. */
  readonly left: number
}

/**
 * The branch of the message tree that the chat program shows. `current`: the id of the branch's last node; where it is unknown, the branch
 * of the most recent message is taken.
 */
export function branchOf(nodes: readonly TreeNode[], current: string | null): Branch {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const timeOf = ({ draft }: TreeNode): number => draft?.moment?.at ?? 0
  const newest = nodes.reduce((best, node) => (timeOf(node) >= timeOf(best) ? node : best), nodes[0] as TreeNode)
  const branch = new Set<TreeNode>()
  let node: TreeNode | undefined = byId.get(current ?? '') ?? newest
  for (; node !== undefined && !branch.has(node); node = byId.get(node.parent ?? '')) branch.add(node)
  const messages = [...branch].reverse().flatMap(({ draft }) => draft ?? [])
  return { messages, left: nodes.filter(({ draft }) => draft !== null).length - messages.length }
}
