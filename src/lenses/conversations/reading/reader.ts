/** Input and output of every reader of a format. A reader has no side effects, and reads as much of a broken file as it can. */

import { canonicalJson, sha256 } from '../../../base/canonical.ts'
import type { Instant } from '../../../base/clock.ts'
import { storableText } from '../../../base/storable.ts'
import { invalidArgument } from '../../../model/errors.ts'
import { MAX_CONTENT_LENGTH, MAX_ID_LENGTH, MAX_NAME_LENGTH } from '../../../model/limits.ts'
import type { ExportFile as GivenFile } from '../../lens.ts'
import type { Attachment, Conversation, Message, Profile, Role } from '../model.ts'
import type { Moment, Zone } from './dates.ts'

// What a reader could not read, and what it left out on purpose.

export interface Place {
  readonly path: string
  /** From 1; null or absent when it concerns the whole file. */
  readonly line?: number | null | undefined
  /** Within the line or the file: a path of JSON (`[3].mapping.abc`), or the number of a mail. */
  readonly at?: string | null | undefined
}

export interface Problem {
  readonly path: string
  readonly line: number | null
  readonly at: string | null
  readonly message: string
}

/** Listed for one export; more are counted. */
const MAX_PROBLEMS = 1_000
/** Characters of one: what a file holds may be quoted in it. */
const MAX_MESSAGE = 500
/** Names in a list of what was left out. */
const MAX_NAMED = 10

/** What a reader could not read, and what it left out on purpose: nothing is dropped in silence. */
export class Findings {
  readonly problems: Problem[] = []
  /** Problems beyond those listed. */
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

  /** Something that is no message (a person joined, a call was missed), by what it is. */
  leave(what: string, count = 1): void {
    if (count > 0) this.#left.set(what, (this.#left.get(what) ?? 0) + count)
  }

  /** How many of each were left out because they are no messages. */
  get left(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#left)
  }
}

/** The first ten, and a sign that there are more. */
export function listed(all: Iterable<string>): string {
  const names = [...all]
  return [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ')
}

// A file of an export as its readers see it: bytes, text, lines. Who opens it is not their concern: a lens has no disk.

export type ExportFile = GivenFile

/** Of files whose messages are all held until the end; the size that other importers of records allow. */
export const MAX_HELD_BYTES = 256 * 1024 * 1024
/** Of one record (a line, a conversation of an assistant, a mail): larger ones are reported and skipped. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Empty for a file beside which no folder is named. */
export function folderOf(path: string): string {
  return path.split('/').at(-2) ?? ''
}

/** In lower case, without the dot; empty where there is none. */
export function extensionOf(path: string): string {
  const name = nameOf(path)
  return name.slice(withoutExtension(path).length + 1).toLowerCase()
}

export function withoutExtension(path: string): string {
  return nameOf(path).replace(/(?<=.)\.[^.]*$/s, '')
}

/** Throws `invalid_argument` where the same path comes twice: a path identifies a file. */
export function requireDistinct(files: readonly ExportFile[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) throw invalidArgument('files', path, 'every path once')
    seen.add(path)
  }
}

/** The first bytes of it, at most `max`. */
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

/** UTF-8, or UTF-16 where a byte order mark says so. */
export function decoderFor(bytes: Uint8Array): InstanceType<typeof TextDecoder> {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return new TextDecoder(!isUtf16 ? 'utf-8' : bytes[0] === 0xff ? 'utf-16le' : 'utf-16be')
}

/**
 * The text in pieces, without a byte order mark. What is no character becomes U+FFFD, which is reported once a file, as is
 * that it has more than `max` bytes: those behind them are not read.
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
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Characters beyond `max`, which `text` does not hold. */
  readonly dropped: number
}

/** Lines end with LF or CR LF; the last may end with neither. `max`: characters of one line that are kept. */
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

// From what a reader found to the normal form: ids, order, sessions, profile.

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

/** A short id of whatever distinguishes something from its like. */
export function derivedId(...parts: readonly (string | number | null)[]): string {
  return sha256(canonicalJson(parts)).slice(0, 16)
}

/** The first of those that have one id; the others are reported. */
function distinct(drafts: readonly MessageDraft[], findings: Findings): readonly MessageDraft[] {
  const seen = new Set<string>()
  return drafts.filter(({ id, place }) => {
    const isNew = id === null || !seen.has(id)
    if (!isNew) findings.problem(place, `the message id ${id} occurred before`)
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

// A conversation with an assistant is a tree where a question was edited or an answer was asked for again. The branch that is
// shown is the conversation; what lies beside it is counted, not read.

export interface TreeNode {
  readonly id: string
  readonly parent: string | null
  /** Null for nodes that carry no message (a root, a hidden one). */
  readonly draft: MessageDraft | null
}

interface Branch {
  /** In order. */
  readonly messages: readonly MessageDraft[]
  /** Messages that are not in the branch. */
  readonly left: number
}

/** `current`: the last node of the branch that is shown; where it is not known, the message that was written last. */
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
