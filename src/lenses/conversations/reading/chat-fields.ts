/** Which field of a record of JSONL is which of a message's. */
import { FieldMap, type UsualNames, unknownMapField } from '../../../model/field-map.ts'

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

export type ChatField = keyof typeof USUAL_NAMES
export const CHAT_FIELDS: readonly ChatField[] = Object.keys(USUAL_NAMES) as ChatField[]

/** Throws `unknown_field` for a map that names a field we do not have. */
export function checkChatMap(map: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(map)) {
    if (!CHAT_FIELDS.some(known => known === field)) throw unknownMapField(field, CHAT_FIELDS)
  }
}

export class ChatFields extends FieldMap<ChatField> {
  readonly #given: ReadonlySet<string>

  /** `map`, checked: our field to a field of the record, or to a path of fields joined by dots. */
  constructor(map: Readonly<Record<string, string>>) {
    super(USUAL_NAMES, new Map(Object.entries(map) as [ChatField, string][]))
    this.#given = new Set(Object.values(map))
  }

  /** Names of the record that no field of ours takes. */
  restOf(record: Readonly<Record<string, unknown>>): readonly string[] {
    const taken = new Set(CHAT_FIELDS.map(field => this.nameIn(record, field)?.split('.')[0]))
    return Object.keys(record).filter(name => !taken.has(name) && !this.#given.has(name))
  }
}
