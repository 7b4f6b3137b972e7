/** Reads exports of ChatGPT: `conversations.json` (or several numbered files), in which each conversation is a tree of messages. */
import { isRecord } from '../../../base/record.ts'
import { type Attachment, ROLES, type Role } from '../model.ts'
import { momentOf } from './dates.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json.ts'
import {
  branchOf,
  type ConversationDraft,
  derivedId,
  type Findings,
  kindOfType,
  type MessageDraft,
  type Place,
  type Reader,
  type ReaderOptions,
  type TreeNode,
} from './reader.ts'

type Fields = Readonly<Record<string, unknown>>

const SPEAKERS: Readonly<Record<Role, string>> = {
  user: 'User',
  assistant: 'ChatGPT',
  system: 'System',
  tool: 'Tool',
}

export const readChatgpt: Reader = async function* (files, options, findings) {
  for (const file of files) {
    for await (const { value, place } of jsonRecords(file, findings)) {
      yield conversationOf(value, place, options, findings)
    }
  }
}

function conversationOf(value: Fields, place: Place, options: ReaderOptions, findings: Findings): ConversationDraft {
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
    findings.problem(place, 'its current_node is not among its messages; the branch of its newest message was taken')
  }
  const { messages, left } = branchOf(nodes, current)
  findings.leave('message of another branch', left)
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
  message: Fields,
  place: Place,
  options: ReaderOptions,
  findings: Findings,
): MessageDraft | null {
  const content = contentOf(message, place, findings)
  if (content === null) return null
  const author = recordIn(message, 'author')
  const role = ROLES.find(one => one === author['role']) ?? null
  const moment = momentOf(message['create_time'], options.zone)
  if (moment === null && message['create_time'] !== null && message['create_time'] !== undefined) {
    findings.problem(place, 'its create_time is not a time; it was stored without one')
  }
  const speaker = textIn(author, 'name') ?? (role === null ? (textIn(author, 'role') ?? '') : SPEAKERS[role])
  return { id: textIn(message, 'id') ?? key, speaker, role, moment, ...content, place }
}

/** Types of message content that ChatGPT does not show in the conversation, each with the reason reported for leaving it out. */
const UNSEEN: Readonly<Record<string, string>> = {
  thoughts: 'reasoning of an assistant',
  reasoning_recap: 'reasoning of an assistant',
  user_editable_context: 'standing instruction',
  model_editable_context: 'standing instruction',
  app_pairing_content: 'standing instruction',
}
/** Types of message content that may be empty without being reported as a problem. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['text', 'multimodal_text', 'code', 'execution_output', 'tether_quote', 'tether_browsing_display', 'system_error'],
])
/** Marks in the text for a cited source: two private-use characters with a name between them, which are removed. */
const CITATION = /\ue200[^\ue200\ue201]*\ue201/g

interface Content {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** Content of a message: its text, with other parts as attachments; null where the message is left out. */
function contentOf(message: Fields, place: Place, findings: Findings): Content | null {
  const content = recordIn(message, 'content')
  const type = textIn(content, 'content_type') ?? 'text'
  const metadata = recordIn(message, 'metadata')
  const unseen = Object.hasOwn(UNSEEN, type)
    ? UNSEEN[type]
    : metadata['is_visually_hidden_from_conversation'] === true
      ? 'hidden message'
      : undefined
  if (unseen !== undefined) {
    findings.leave(unseen)
    return null
  }
  const parts = listIn(content, 'parts').map(partOf)
  const own =
    type === 'tether_quote'
      ? ['title', 'text', 'url'].flatMap(field => textIn(content, field) ?? []).join('\n')
      : (textIn(content, 'text') ?? textIn(content, 'result') ?? '')
  const texts = [...parts.map(part => part.text), own].map(text => text.replace(CITATION, ''))
  const text = texts.filter(part => part.trim() !== '').join('\n\n')
  const shown = parts.flatMap(part => part.attachments)
  const attachments = withFileNames(shown, listIn(metadata, 'attachments'))
  if (text !== '' || attachments.length > 0) return { text, attachments }
  if (KNOWN.has(type)) findings.leave('empty message')
  else findings.problem(place, `content of the unknown type ${type}`)
  return null
}

function partOf(part: unknown): Content {
  if (typeof part === 'string') return { text: part, attachments: [] }
  if (!isRecord(part)) return { text: '', attachments: [] }
  const type = textIn(part, 'content_type') ?? ''
  // A spoken message: the transcript becomes its text; the sound is given as a separate part.
  const text = ['text', 'result', 'output'].map(field => textIn(part, field)).find(one => one !== null) ?? ''
  const pointer = textIn(part, 'asset_pointer') ?? textIn(recordIn(part, 'audio_asset_pointer'), 'asset_pointer')
  if (pointer === null && (text !== '' || type === 'audio_transcription')) return { text, attachments: [] }
  const caption = textIn(recordIn(recordIn(part, 'metadata'), 'dalle'), 'prompt')
  // Removes the scheme from a pointer to a file: `file-service://file-abc` and `sediment://file_abc` contain the ids of files.
  const name = pointer === null ? null : pointer.replace(/^[a-z-]+:\/\//, '')
  return { text, attachments: [{ kind: /image|audio|video/.exec(type)?.[0] ?? 'file', caption, name }] }
}

/**
 * Replaces file ids in a message's text by file names: the text refers to a file by its id, and the message's metadata gives the file's
 * name.
 */
function withFileNames(shown: readonly Attachment[], files: readonly unknown[]): readonly Attachment[] {
  const named = new Map(files.map((file, index) => [textIn(file, 'id') ?? `#${index}`, fileOf(file)]))
  const known = shown.map(one => {
    const file = named.get(one.name ?? '')
    named.delete(one.name ?? '')
    return file === undefined ? one : { ...one, name: file.name }
  })
  return [...known, ...named.values()]
}

function fileOf(file: unknown): Attachment {
  const type = textIn(file, 'mime_type') ?? textIn(file, 'mimeType') ?? ''
  return { kind: kindOfType(type), caption: null, name: textIn(file, 'name') ?? textIn(file, 'id') }
}
