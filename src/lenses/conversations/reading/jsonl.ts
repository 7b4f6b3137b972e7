/** JSON Lines: one message a line. A line that is none is told of, and the others are read. */
import { isRecord } from '../../../base/record.ts'
import { type Attachment, ROLES, type Role } from '../model.ts'
import { ChatFields } from './chat-fields.ts'
import type { MessageDraft } from './draft.ts'
import { MAX_HELD_BYTES, MAX_RECORD_BYTES, withoutExtension } from './export-file.ts'
import { type Findings, namesOf, type Place } from './findings.ts'
import { momentOf } from './instants.ts'
import { linesOf } from './lines.ts'
import type { Reader } from './reader.ts'
import { textPieces } from './text-pieces.ts'
import type { Zone } from './zones.ts'

type Fields = Readonly<Record<string, unknown>>

/** Characters of a name that are told. */
const MAX_FIELD_NAME = 80
/** What other programs call the roles. */
const OTHER_ROLES: Readonly<Record<string, Role>> = {
  human: 'user',
  ai: 'assistant',
  bot: 'assistant',
  model: 'assistant',
  developer: 'system',
  function: 'tool',
}

interface Draft {
  title: string
  readonly messages: MessageDraft[]
}

export const readJsonl: Reader = async function* (files, options, findings) {
  const fields = new ChatFields(options.map)
  const conversations = new Map<string, Draft>()
  const unread = new Set<string>()
  for (const file of files) {
    const fallback = options.conversation ?? withoutExtension(file.path)
    for await (const { number, text, dropped } of linesOf(
      textPieces(file, findings, MAX_HELD_BYTES),
      MAX_RECORD_BYTES,
    )) {
      const place = { path: file.path, line: number }
      if (dropped > 0) findings.problem(place, `longer than ${MAX_RECORD_BYTES} characters; it was skipped`)
      if (dropped > 0 || text.trim() === '') continue
      const record = recordOf(text)
      if (typeof record === 'string') {
        findings.problem(place, record)
        continue
      }
      const message = messageOf(record, fields, options.zone, place, findings)
      if (message === null) continue
      for (const name of fields.restOf(record)) unread.add(name.slice(0, MAX_FIELD_NAME))
      const id = conversationOf(record, fields, place, findings) || fallback
      const draft = conversations.get(id) ?? { title: '', messages: [] }
      conversations.set(id, draft)
      draft.title ||= wordOf(fields.value(record, 'title'))
      draft.messages.push(message)
    }
  }
  findings.leave(`field of a record that is not read (${namesOf(unread)})`, unread.size)
  for (const [id, { title, messages }] of conversations) yield { id, title, messages, isOrdered: false }
}

/** Ids of some services are larger than a number holds exactly. */
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

function messageOf(
  record: Fields,
  fields: ChatFields,
  zone: Zone | null,
  place: Place,
  findings: Findings,
): MessageDraft | null {
  const text = textOf(fields.value(record, 'text'))
  const deleted = isSaid(fields.value(record, 'deleted'))
  const attachments = attachmentsOf(fields.value(record, 'attachments'), place, findings)
  if (text === null) {
    findings.problem(place, `the field ${fields.nameIn(record, 'text')} is not text`)
    return null
  }
  if (text.trim() === '' && attachments.length === 0 && !deleted) {
    findings.problem(place, 'no text in it; say which field has it with a map')
    return null
  }
  const role = roleOf(fields.value(record, 'role'), place, findings)
  const at = fields.value(record, 'at')
  const moment = momentOf(at, zone)
  if (moment === null && at !== undefined && at !== null && at !== '') {
    findings.problem(place, `the field ${fields.nameIn(record, 'at')} is no time; it was taken without one`)
  }
  const edited = fields.value(record, 'edited')
  const replyTo = wordOf(fields.value(record, 'reply_to'))
  return {
    id: wordOf(fields.value(record, 'id')) || null,
    session: wordOf(fields.value(record, 'session')) || null,
    speaker: speakerOf(fields.value(record, 'speaker')) || (role ?? ''),
    role,
    at: moment?.at ?? null,
    zone: moment?.zone ?? null,
    written: wordOf(at),
    replyTo: replyTo === '' ? null : replyTo,
    text,
    attachments,
    ...(isSaid(edited) && { edited: { at: edited === true ? null : (momentOf(edited, zone)?.at ?? null) } }),
    deleted,
    place,
  }
}

/** A number or a text, as text; empty for anything else. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}

/** A name, or an object that has an id or one; empty where the record names none. */
function conversationOf(record: Fields, fields: ChatFields, place: Place, findings: Findings): string {
  const value = fields.value(record, 'conversation')
  const id = isRecord(value) ? wordOf(value['id']) || wordOf(value['name']) : wordOf(value)
  if (id === '' && value !== undefined && value !== null && value !== '') {
    findings.problem(
      place,
      `the field ${fields.nameIn(record, 'conversation')} names no conversation; it was taken as that of the file`,
    )
  }
  return id
}

/** A name, or an object that has one. */
function speakerOf(value: unknown): string {
  if (!isRecord(value)) return wordOf(value)
  return ['name', 'display_name', 'username', 'id'].map(field => wordOf(value[field])).find(name => name !== '') ?? ''
}

/** Paragraphs when it is a list of texts or of blocks with texts; null when it is no text at all. */
function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value)) return null
  const parts = value.map(part => (isRecord(part) ? part['text'] : part))
  return parts.every(part => typeof part === 'string') ? parts.join('\n\n') : null
}

function roleOf(value: unknown, place: Place, findings: Findings): Role | null {
  const word = wordOf(value).toLowerCase()
  if (word === '') return null
  const role = ROLES.find(one => one === word) ?? (Object.hasOwn(OTHER_ROLES, word) ? OTHER_ROLES[word] : undefined)
  if (role === undefined) {
    findings.problem(place, `the role ${word.slice(0, 80)} is none of ${ROLES.join(', ')}; it was taken without one`)
  }
  return role ?? null
}

/** A time, or true; what other programs write for false is not. */
function isSaid(value: unknown): boolean {
  if (typeof value === 'string' && /^\s*(?:false|no|0|null|none)\s*$/i.test(value)) return false
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0
}

function attachmentsOf(value: unknown, place: Place, findings: Findings): readonly Attachment[] {
  if (value === undefined || value === null) return []
  const list = Array.isArray(value) ? value : [value]
  return list.flatMap((one): Attachment[] => {
    if (typeof one === 'string') return [{ kind: 'file', caption: null, name: one }]
    if (isRecord(one)) {
      const name = wordOf(one['name'])
      const caption = wordOf(one['caption'])
      return [{ kind: wordOf(one['kind']) || 'file', caption: caption || null, name: name || null }]
    }
    findings.problem(place, 'an attachment is neither a name nor an object')
    return []
  })
}
