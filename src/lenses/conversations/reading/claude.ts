/** The export of Claude: `conversations.json`, a list of messages each, with what was attached as text. */
import { isRecord } from '../../../base/record.ts'
import type { Attachment, Role } from '../model.ts'
import { branchOf, type TreeNode } from './branches.ts'
import { type ConversationDraft, derivedId, type MessageDraft } from './draft.ts'
import type { Findings, Place } from './findings.ts'
import { momentOf } from './instants.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json-records.ts'
import type { Reader, ReaderOptions } from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

/** As which the first message of a tree names its parent. */
const NO_PARENT = /^0{8}-/
const SPEAKERS: Readonly<Record<string, { readonly role: Role; readonly name: string }>> = {
  human: { role: 'user', name: 'User' },
  user: { role: 'user', name: 'User' },
  assistant: { role: 'assistant', name: 'Claude' },
}

/** Blocks of a message that are not what was said. */
const UNSEEN: Readonly<Record<string, string>> = {
  thinking: 'reasoning of an assistant',
  tool_use: 'call of a tool',
  tool_result: 'answer of a tool',
  token_budget: 'note of the program',
}

export const readClaude: Reader = async function* (files, options, findings) {
  for (const file of files) {
    for await (const { value, place } of jsonRecords(file, 'chat_messages', findings)) {
      yield conversationOf(value, place, options, findings)
    }
  }
}

function conversationOf(value: Fields, place: Place, options: ReaderOptions, findings: Findings): ConversationDraft {
  const title = textIn(value, 'name') ?? ''
  const own = textIn(value, 'uuid')
  if (own === null) findings.problem(place, 'the conversation has no uuid; an id was made of its name and time')
  if (!Array.isArray(value['chat_messages'])) findings.problem(place, 'the conversation has no chat_messages')
  const drafts = listIn(value, 'chat_messages').map((message, index) => {
    const at = { ...place, at: `${place.at ?? ''}.chat_messages[${index}]` }
    return { parent: parentOf(message), draft: draftOf(message, at, options, findings) }
  })
  const id = own ?? derivedId(title, textIn(value, 'created_at'))
  const isTree = drafts.some(({ parent }) => parent !== null)
  if (!isTree)
    return { id, title, messages: drafts.flatMap(({ draft }) => draft ?? []), profile: 'assistant', isOrdered: true }
  const nodes = drafts.map(({ parent, draft }, index): TreeNode => {
    const message = listIn(value, 'chat_messages')[index]
    return { id: textIn(message, 'uuid') ?? `#${index}`, parent, draft }
  })
  const { messages, left } = branchOf(nodes, textIn(value, 'current_leaf_message_uuid'))
  findings.leave('message after a version that was left', left)
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
  const speaker = Object.hasOwn(SPEAKERS, sender) ? SPEAKERS[sender] : undefined
  if (speaker === undefined) findings.problem(place, `the sender ${sender} is neither human nor assistant`)
  const moment = momentOf(message['created_at'], options.zone)
  if (moment === null) findings.problem(place, 'its created_at is no time; it was taken without one')
  return {
    id: textIn(message, 'uuid'),
    speaker: speaker?.name ?? sender,
    role: speaker?.role ?? null,
    at: moment?.at ?? null,
    zone: moment?.zone ?? null,
    text,
    attachments,
    place,
  }
}

/** Newer exports have blocks beside the text; the text has all that is shown of them, but may be empty. */
function textOf(message: Fields, findings: Findings): string {
  const texts: string[] = []
  for (const block of listIn(message, 'content')) {
    const type = textIn(block, 'type') ?? 'unknown'
    if (type === 'text') texts.push(textIn(block, 'text') ?? '')
    else findings.leave(Object.hasOwn(UNSEEN, type) ? (UNSEEN[type] as string) : `block of the type ${type}`)
  }
  const joined = texts.filter(text => text !== '').join('\n\n')
  return joined !== '' ? joined : (textIn(message, 'text') ?? '')
}

function attachmentsOf(message: Fields): readonly Attachment[] {
  const files = [...listIn(message, 'attachments'), ...listIn(message, 'files'), ...listIn(message, 'files_v2')]
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
