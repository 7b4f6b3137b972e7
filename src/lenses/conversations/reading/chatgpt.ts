/** The export of ChatGPT: `conversations.json` (or several, numbered), each conversation a tree of messages. */
import { isRecord } from '../../../base/record.ts'
import { ROLES, type Role } from '../model.ts'
import { branchOf, type TreeNode } from './branches.ts'
import { contentOf } from './chatgpt-content.ts'
import { type ConversationDraft, derivedId, type MessageDraft } from './draft.ts'
import type { Findings, Place } from './findings.ts'
import { momentOf } from './instants.ts'
import { jsonRecords, recordIn, textIn } from './json-records.ts'
import type { Reader, ReaderOptions } from './reader.ts'

const SPEAKERS: Readonly<Record<Role, string>> = {
  user: 'User',
  assistant: 'ChatGPT',
  system: 'System',
  tool: 'Tool',
}

export const readChatgpt: Reader = async function* (files, options, findings) {
  for (const file of files) {
    for await (const { value, place } of jsonRecords(file, 'mapping', findings)) {
      yield conversationOf(value, place, options, findings)
    }
  }
}

function conversationOf(
  value: Readonly<Record<string, unknown>>,
  place: Place,
  options: ReaderOptions,
  findings: Findings,
): ConversationDraft {
  const title = textIn(value, 'title') ?? ''
  const own = textIn(value, 'conversation_id') ?? textIn(value, 'id')
  if (own === null) findings.problem(place, 'the conversation has no id; one was made of its title and time')
  const created = value['create_time']
  const id = own ?? derivedId(title, typeof created === 'number' ? created : null)
  if (!isRecord(value['mapping'])) findings.problem(place, 'the conversation has no mapping, so no messages')
  const nodes = Object.entries(recordIn(value, 'mapping')).map(([key, node]) =>
    nodeOf(key, node, { ...place, at: `${place.at ?? ''}.mapping.${key}` }, options, findings),
  )
  const current = textIn(value, 'current_node')
  if (nodes.length > 0 && !nodes.some(node => node.id === current)) {
    findings.problem(place, 'its current_node is not among its messages; its newest branch was taken')
  }
  const { messages, left } = branchOf(nodes, current)
  findings.leave('message after a version that was left', left)
  return { id, title, messages, profile: 'assistant', isOrdered: true }
}

function nodeOf(key: string, node: unknown, place: Place, options: ReaderOptions, findings: Findings): TreeNode {
  const parent = textIn(node, 'parent')
  const message = isRecord(node) ? node['message'] : undefined
  if (isRecord(message)) return { id: key, parent, draft: draftOf(key, message, place, options, findings) }
  if (!isRecord(node) || (message !== null && message !== undefined)) {
    findings.problem(place, 'expected a node with a message')
  }
  return { id: key, parent, draft: null }
}

function draftOf(
  key: string,
  message: Readonly<Record<string, unknown>>,
  place: Place,
  options: ReaderOptions,
  findings: Findings,
): MessageDraft | null {
  const content = contentOf(message)
  if (content.kind === 'left') {
    findings.leave(content.what)
    return null
  }
  if (content.kind === 'unknown') {
    findings.problem(place, `content of the type ${content.type}, of which nothing is known`)
    return null
  }
  const author = recordIn(message, 'author')
  const role = ROLES.find(one => one === author['role']) ?? null
  const moment = momentOf(message['create_time'], options.zone)
  if (moment === null && message['create_time'] !== null && message['create_time'] !== undefined) {
    findings.problem(place, 'its create_time is no time; it was taken without one')
  }
  return {
    id: textIn(message, 'id') ?? key,
    speaker: textIn(author, 'name') ?? (role === null ? (textIn(author, 'role') ?? '') : SPEAKERS[role]),
    role,
    at: moment?.at ?? null,
    zone: moment?.zone ?? null,
    text: content.text,
    attachments: content.attachments,
    place,
  }
}
