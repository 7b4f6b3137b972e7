/** Reads exports of Claude: `conversations.json`, in which each conversation is a list of messages, with attachments as text. */
import { isRecord } from '../../../base/record.ts'
import type { Attachment, Role } from '../model.ts'
import { momentOf } from './dates.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json.ts'
import {
  branchOf,
  type ConversationDraft,
  derivedId,
  type Findings,
  type MessageDraft,
  type Place,
  type Reader,
  type ReaderOptions,
  type TreeNode,
} from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

/** Pattern of the id that the first message of a conversation's tree names as its parent. */
const NO_PARENT = /^0{8}-/
const SPEAKERS: ReadonlyMap<string, { readonly role: Role; readonly speaker: string }> = new Map([
  ['human', { role: 'user', speaker: 'User' }],
  ['user', { role: 'user', speaker: 'User' }],
  ['assistant', { role: 'assistant', speaker: 'Claude' }],
])

/** Types of blocks in a message that nobody said, such as calls of tools, each with the reason reported for leaving it out. */
const UNSEEN: ReadonlyMap<string, string> = new Map([
  ['thinking', 'reasoning of an assistant'],
  ['tool_use', 'call of a tool'],
  ['tool_result', 'answer of a tool'],
  ['token_budget', 'note of the program'],
])

export const readClaude: Reader = async function* (files, options, findings) {
  for (const file of files) {
    for await (const { value, place } of jsonRecords(file, findings)) {
      yield conversationOf(value, place, options, findings)
    }
  }
}

function conversationOf(value: Fields, place: Place, options: ReaderOptions, findings: Findings): ConversationDraft {
  const title = textIn(value, 'name') ?? ''
  const own = textIn(value, 'uuid')
  if (own === null) findings.problem(place, 'the conversation has no uuid; an id was made of its name and time')
  if (!Array.isArray(value['chat_messages'])) findings.problem(place, 'the conversation has no chat_messages')
  const nodes = listIn(value, 'chat_messages').map((message, index): TreeNode => {
    const at = { ...place, at: `${place.at ?? ''}.chat_messages[${index}]` }
    const draft = draftOf(message, at, options, findings)
    return { id: textIn(message, 'uuid') ?? `#${index}`, parent: parentOf(message), draft }
  })
  const id = own ?? derivedId(title, textIn(value, 'created_at'))
  const isTree = nodes.some(({ parent }) => parent !== null)
  const { messages, left } = isTree
    ? branchOf(nodes, textIn(value, 'current_leaf_message_uuid'))
    : { messages: nodes.flatMap(({ draft }) => draft ?? []), left: 0 }
  findings.leave('message of another branch', left)
  return { id, title, messages, profile: 'assistant', isOrdered: true }
}

function parentOf(message: unknown): string | null {
  const parent = textIn(message, 'parent_message_uuid')
  return parent === null || NO_PARENT.test(parent) ? null : parent
}

function draftOf(message: unknown, place: Place, options: ReaderOptions, findings: Findings): MessageDraft | null {
  if (!isRecord(message)) {
    findings.problem(place, 'expected a message')
    return null
  }
  const attachments = attachmentsOf(message)
  const text = textOf(message, findings)
  if (text === '' && attachments.length === 0) {
    findings.leave('empty message')
    return null
  }
  const sender = textIn(message, 'sender') ?? ''
  const known = SPEAKERS.get(sender)
  if (known === undefined) findings.problem(place, `the sender ${sender} is neither human nor assistant`)
  const moment = momentOf(message['created_at'], options.zone)
  if (moment === null) findings.problem(place, 'its created_at is not a time; it was stored without one')
  const { role, speaker } = known ?? { role: null, speaker: sender }
  return { id: textIn(message, 'uuid'), speaker, role, moment, text, attachments, place }
}

/**
 * Text of a message: its text blocks, which newer exports have in addition to a text field; the text field where there are no such blocks
 * with text. Blocks of other types are counted as left out.
 */
function textOf(message: Fields, findings: Findings): string {
  const texts: string[] = []
  for (const block of listIn(message, 'content')) {
    const type = textIn(block, 'type') ?? 'unknown'
    if (type === 'text') texts.push(textIn(block, 'text') ?? '')
    else findings.leave(UNSEEN.get(type) ?? `block of the type ${type}`)
  }
  const text = texts.filter(each => each !== '').join('\n\n')
  return text !== '' ? text : (textIn(message, 'text') ?? '')
}

function attachmentsOf(message: Fields): readonly Attachment[] {
  const files = ['attachments', 'files', 'files_v2'].flatMap(field => listIn(message, field))
  const seen = new Set<string>()
  return files.flatMap((file): Attachment[] => {
    const name = textIn(file, 'file_name') ?? textIn(file, 'file_uuid')
    if (name !== null && seen.has(name)) return []
    if (name !== null) seen.add(name)
    const type = textIn(file, 'file_type') ?? textIn(file, 'file_kind') ?? ''
    const kind = /image|png|jpe?g|gif|webp/i.test(`${type} ${name ?? ''}`) ? 'image' : 'document'
    const caption = textIn(file, 'extracted_content') ?? textIn(recordIn(file, 'preview_asset'), 'alt')
    return [{ kind, caption, name }]
  })
}
