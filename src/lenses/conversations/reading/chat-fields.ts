/** Which field of a record of JSONL is which of a message's. */
import { QuerentError } from '../../../model/errors.ts'

/** Our fields, and the names they go by in other people's records, the likeliest first. */
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
} as const

export type ChatField = keyof typeof USUAL_NAMES
export const CHAT_FIELDS: readonly ChatField[] = Object.keys(USUAL_NAMES) as ChatField[]

/** Throws `unknown_field` for a map that names a field we do not have. */
export function checkChatMap(map: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(map)) {
    if (CHAT_FIELDS.some(known => known === field)) continue
    throw new QuerentError('unknown_field', `map: there is no field ${field}; known are ${CHAT_FIELDS.join(', ')}`, {
      field: `map.${field}`,
      known: [...CHAT_FIELDS],
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

export class ChatFields {
  readonly #given: ReadonlyMap<string, string>

  /** `map`, checked: our field to a field of the record, or to a path of fields joined by dots. */
  constructor(map: Readonly<Record<string, string>>) {
    this.#given = new Map(Object.entries(map))
  }

  /** Undefined when the record has none. */
  value(record: Fields, field: ChatField): unknown {
    const name = this.nameIn(record, field)
    if (name === null) return undefined
    return Object.hasOwn(record, name) ? record[name] : valueAt(record, name.split('.'))
  }

  /** The record's name for the field, or null. A mapped field goes by no other name. */
  nameIn(record: Fields, field: ChatField): string | null {
    return this.#given.get(field) ?? USUAL_NAMES[field].find(name => Object.hasOwn(record, name)) ?? null
  }

  /** Names of the record that no field of ours takes. */
  restOf(record: Fields): readonly string[] {
    const taken = new Set(CHAT_FIELDS.map(field => this.nameIn(record, field)?.split('.')[0]))
    return Object.keys(record).filter(name => !taken.has(name) && ![...this.#given.values()].includes(name))
  }
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Fields)[key]
  }
  return value
}
