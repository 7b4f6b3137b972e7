/** The content of a message of ChatGPT: text, and what is no text as attachments. */
import { isRecord } from '../../../base/record.ts'
import type { Attachment } from '../model.ts'
import { listIn, recordIn, textIn } from './json-records.ts'

export type Content =
  | { readonly kind: 'read'; readonly text: string; readonly attachments: readonly Attachment[] }
  | { readonly kind: 'left'; readonly what: string }
  | { readonly kind: 'unknown'; readonly type: string }

/** Content that nobody sees in the conversation, by its type. */
const UNSEEN: Readonly<Record<string, string>> = {
  thoughts: 'reasoning of an assistant',
  reasoning_recap: 'reasoning of an assistant',
  user_editable_context: 'standing instruction',
  model_editable_context: 'standing instruction',
  app_pairing_content: 'standing instruction',
}

/** Where a source is shown as a mark: signs of private use with a name between them. */
const CITATION = /\ue200[^\ue200\ue201]*\ue201/g

export function contentOf(message: Readonly<Record<string, unknown>>): Content {
  const content = recordIn(message, 'content')
  const type = textIn(content, 'content_type') ?? 'text'
  if (Object.hasOwn(UNSEEN, type)) return { kind: 'left', what: UNSEEN[type] as string }
  const metadata = recordIn(message, 'metadata')
  if (metadata['is_visually_hidden_from_conversation'] === true) return { kind: 'left', what: 'hidden message' }
  const parts = listIn(content, 'parts').map(partOf)
  const ownText = type === 'tether_quote' ? quoteOf(content) : (textIn(content, 'text') ?? textIn(content, 'result'))
  const texts = [...parts.map(part => part.text), ownText ?? ''].map(text => text.replace(CITATION, ''))
  const text = texts.filter(part => part.trim() !== '').join('\n\n')
  const attachments = together(
    parts.flatMap(part => part.attachments),
    listIn(metadata, 'attachments'),
  )
  if (text !== '' || attachments.length > 0) return { kind: 'read', text, attachments }
  const isKnown = ['text', 'multimodal_text', 'code', 'execution_output', 'tether_quote'].includes(type)
  const isEmpty = isKnown || type === 'tether_browsing_display' || type === 'system_error'
  return isEmpty ? { kind: 'left', what: 'empty message' } : { kind: 'unknown', type }
}

interface Part {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

function partOf(part: unknown): Part {
  if (typeof part === 'string') return { text: part, attachments: [] }
  if (!isRecord(part)) return { text: '', attachments: [] }
  const type = textIn(part, 'content_type') ?? ''
  // What was said aloud is the text of the message; the sound comes beside it, as a part of its own.
  const text = ['text', 'result', 'output'].map(field => textIn(part, field)).find(one => one !== null) ?? ''
  const pointer = textIn(part, 'asset_pointer') ?? textIn(recordIn(part, 'audio_asset_pointer'), 'asset_pointer')
  if (pointer === null && (text !== '' || type === 'audio_transcription')) return { text, attachments: [] }
  const caption = textIn(recordIn(recordIn(part, 'metadata'), 'dalle'), 'prompt')
  return { text, attachments: [{ kind: kindOf(type), caption, name: pointer === null ? null : bare(pointer) }] }
}

/** What was added to a message is named by its id where it stands in the text, and by its name beside it. */
function together(shown: readonly Attachment[], files: readonly unknown[]): readonly Attachment[] {
  const names = new Map(files.map((file, index) => [textIn(file, 'id') ?? `#${index}`, fileOf(file)]))
  const named = shown.map(one => {
    const file = names.get(one.name ?? '')
    names.delete(one.name ?? '')
    return file === undefined ? one : { ...one, name: file.name }
  })
  return [...named, ...names.values()]
}

function kindOf(type: string): string {
  return ['image', 'audio', 'video'].find(kind => type.includes(kind)) ?? 'file'
}

function fileOf(file: unknown): Attachment {
  const type = textIn(file, 'mime_type') ?? textIn(file, 'mimeType') ?? ''
  const kind = ['image', 'audio', 'video'].find(one => type.startsWith(`${one}/`)) ?? 'document'
  return { kind, caption: null, name: textIn(file, 'name') ?? textIn(file, 'id') }
}

/** `file-service://file-abc` and `sediment://file_abc` name the same sort of thing. */
function bare(pointer: string): string {
  return pointer.replace(/^[a-z-]+:\/\//, '')
}

function quoteOf(content: Readonly<Record<string, unknown>>): string {
  return ['title', 'text', 'url'].flatMap(field => textIn(content, field) ?? []).join('\n')
}
