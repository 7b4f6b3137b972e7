/** Reads JSON Lines: one message per line. A line that is no message is reported, and the others are read. */
import { isRecord } from '../../../base/record.ts'
import { FieldMap, type UsualNames, unknownMapField } from '../../../model/field-map.ts'
import { type Attachment, ROLES, type Role } from '../model.ts'
import { momentOf, type Zone } from './dates.ts'
import {
  linesOf,
  listed,
  MAX_HELD_BYTES,
  MAX_RECORD_BYTES,
  type MessageDraft,
  type Place,
  type Reader,
  textPieces,
  withoutExtension,
} from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

const USUAL_NAMES = {
  id: ['id', '_id', 'message_id', 'msg_id', 'uuid', 'dia_id'],
  conversation: ['conversation', 'conversation_id', 'chat', 'chat_id', 'channel', 'thread', 'thread_id', 'dialog_id'],
  session: ['session', 'session_id'],
  speaker: ['speaker', 'name', 'author', 'sender', 'from', 'user'],
  role: ['role'],
  at: ['at', 'timestamp', 'time', 'date', 'created_at', 'createdAt', 'sent_at', 'ts'],
  text: ['text', 'content', 'message', 'body', 'utterance'],
  reply_to: ['reply_to', 'replyTo', 'in_reply_to', 'parent_id'],
  title: ['title', 'conversation_title'],
  attachments: ['attachments'],
  edited: ['edited', 'edited_at'],
  deleted: ['deleted', 'deleted_at'],
} as const satisfies UsualNames<string>

type ChatField = keyof typeof USUAL_NAMES
const CHAT_FIELDS = Object.keys(USUAL_NAMES) as readonly ChatField[]

/** Maps the fields of a record to those of a message. */
export class ChatFields extends FieldMap<ChatField> {
  readonly #given: ReadonlySet<string>

  /**
   * `map`: for message fields, the name of the record's field, or a path of names joined by dots. Throws `unknown_field` for a field that
   * messages do not have.
   */
  constructor(map: Readonly<Record<string, string>>) {
    for (const field of Object.keys(map)) {
      if (!CHAT_FIELDS.some(known => known === field)) throw unknownMapField(field, CHAT_FIELDS)
    }
    super(USUAL_NAMES, new Map(Object.entries(map) as [ChatField, string][]))
    this.#given = new Set(Object.values(map))
  }

  /** Names of the record's fields that are not mapped to a message field. */
  restOf(record: Fields): readonly string[] {
    const taken = new Set(CHAT_FIELDS.map(field => this.nameIn(record, field)?.split('.')[0]))
    return Object.keys(record).filter(name => !taken.has(name) && !this.#given.has(name))
  }
}

/** Longest field name shown in a report, in characters. */
const MAX_SHOWN_NAME = 80
/** Names that other programs use for the roles of speakers, such as `human` for `user`. */
const OTHER_ROLES: ReadonlyMap<string, Role> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['bot', 'assistant'],
  ['model', 'assistant'],
  ['developer', 'system'],
  ['function', 'tool'],
])

export const readJsonl: Reader = async function* (files, options, findings) {
  const fields = new ChatFields(options.map)
  const conversations = new Map<string, { title: string; readonly messages: MessageDraft[] }>()
  const unread = new Set<string>()
  for (const file of files) {
    const fallback = options.conversation ?? withoutExtension(file.path)
    const pieces = textPieces(file, findings, MAX_HELD_BYTES)
    for await (const { number, text, dropped } of linesOf(pieces, MAX_RECORD_BYTES)) {
      const place = { path: file.path, line: number }
      if (dropped > 0) findings.problem(place, `longer than ${MAX_RECORD_BYTES} characters; it was skipped`)
      if (dropped > 0 || text.trim() === '') continue
      const record = recordOf(text)
      if (typeof record === 'string') {
        findings.problem(place, record)
        continue
      }
      const line: RecordLine = {
        place,
        value: field => fields.value(record, field),
        name: field => fields.nameIn(record, field),
        problem: message => findings.problem(place, message),
      }
      const message = messageOf(line, options.zone)
      if (message === null) continue
      for (const name of fields.restOf(record)) unread.add(name.slice(0, MAX_SHOWN_NAME))
      const id = conversationOf(line) || fallback
      const draft = conversations.get(id) ?? { title: '', messages: [] }
      conversations.set(id, draft)
      draft.title ||= wordOf(line.value('title'))
      draft.messages.push(message)
    }
  }
  findings.leave(`field of a record that is not read (${listed(unread)})`, unread.size)
  for (const [id, { title, messages }] of conversations) yield { id, title, messages, isOrdered: false }
}

/** Pattern of a number with 16 or more digits, such as an id of some services, which is too large to be stored exactly in a double. */
const LONG_NUMBER = /\d{16}/

function withExactIds(_name: string, value: unknown, parsed?: { readonly source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
  return isInexact && /^-?\d+$/.test(parsed?.source ?? '') ? parsed?.source : value
}

function recordOf(line: string): Fields | string {
  try {
    const record: unknown = JSON.parse(line, LONG_NUMBER.test(line) ? withExactIds : undefined)
    return isRecord(record) ? record : 'expected a JSON object'
  } catch (error) {
    return `not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

interface RecordLine {
  readonly place: Place
  value(field: ChatField): unknown
  /** The first name that the record uses for a message field; null where the record does not have the field. */
  name(field: ChatField): string | null
  problem(message: string): void
}

function messageOf(line: RecordLine, zone: Zone | null): MessageDraft | null {
  const { value, name, problem, place } = line
  const text = textOf(value('text'))
  const deleted = isYes(value('deleted'))
  const attachments = attachmentsOf(line)
  if (text === null) {
    problem(`the field ${name('text')} is not text`)
    return null
  }
  if (text.trim() === '' && attachments.length === 0 && !deleted) {
    problem('it has no text; name the field that has it with a map')
    return null
  }
  const role = roleOf(line)
  const at = value('at')
  const moment = momentOf(at, zone)
  if (moment === null && !isEmpty(at)) problem(`the field ${name('at')} is not a time; it was stored without one`)
  const edited = value('edited')
  return {
    id: wordOf(value('id')) || null,
    session: wordOf(value('session')) || null,
    speaker: speakerOf(value('speaker')) || (role ?? ''),
    role,
    moment,
    written: wordOf(at),
    replyTo: wordOf(value('reply_to')) || null,
    text,
    attachments,
    ...(isYes(edited) && { edited: { at: edited === true ? null : (momentOf(edited, zone)?.at ?? null) } }),
    deleted,
    place,
  }
}

/** Id of the conversation: a text, or from an object that has an id or a name; empty where the record gives none. */
function conversationOf({ value, name, problem }: RecordLine): string {
  const given = value('conversation')
  const id = isRecord(given) ? wordOf(given['id']) || wordOf(given['name']) : wordOf(given)
  if (id === '' && !isEmpty(given)) {
    problem(`the field ${name('conversation')} names no conversation; that of the file was used`)
  }
  return id
}

function roleOf({ value, problem }: RecordLine): Role | null {
  const word = wordOf(value('role')).toLowerCase()
  const role = ROLES.find(one => one === word) ?? OTHER_ROLES.get(word) ?? null
  if (role === null && word !== '') {
    problem(`the role ${word.slice(0, MAX_SHOWN_NAME)} is not one of ${ROLES.join(', ')}; it was stored without one`)
  }
  return role
}

function attachmentsOf({ value, problem }: RecordLine): readonly Attachment[] {
  const given = value('attachments') ?? []
  return (Array.isArray(given) ? given : [given]).flatMap((one): Attachment[] => {
    if (typeof one === 'string') return [{ kind: 'file', caption: null, name: one }]
    if (isRecord(one)) {
      const { kind, caption, name } = one
      return [{ kind: wordOf(kind) || 'file', caption: wordOf(caption) || null, name: wordOf(name) || null }]
    }
    problem('an attachment is neither a name nor an object')
    return []
  })
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** A number or a text, as text; empty for other values. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}

/** Name of the speaker: a text, or from an object that has a name. */
function speakerOf(value: unknown): string {
  if (!isRecord(value)) return wordOf(value)
  return ['name', 'display_name', 'username', 'id'].map(field => wordOf(value[field])).find(name => name !== '') ?? ''
}

/** Text of the message. A list of texts or of blocks with texts becomes paragraphs; null when the value is no text at all. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value)) return null
  const parts = value.map(part => (isRecord(part) ? part['text'] : part))
  return parts.every(part => typeof part === 'string') ? parts.join('\n\n') : null
}

/** Whether the value of a field such as `deleted` means yes: `true`, or a time; texts that other programs write for false mean no. */
function isYes(value: unknown): boolean {
  if (typeof value === 'string' && /^\s*(?:false|no|0|null|none)\s*$/i.test(value)) return false
  return !isEmpty(value) && value !== false && value !== 0
}
