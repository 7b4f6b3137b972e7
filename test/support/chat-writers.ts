/** Small writers of every format of conversations, to read back what they wrote. */

import type { ChatFormat } from '../../src/lenses/conversations/reading/read.ts'
import type { ExportFile } from '../../src/lenses/conversations/reading/reader.ts'
import { fileOf } from './export-files.ts'

export interface Said {
  readonly speaker: string
  readonly text: string
  readonly at: number
}

export interface WrittenChat {
  /** `length`: bytes of the file that holds the messages, which is cut there. */
  files(pieceSize: number, length?: number): readonly ExportFile[]
  readonly length: number
  /** For every message, how many bytes it takes to hold it whole. */
  readonly ends: readonly number[]
}

export type ChatWriter = (messages: readonly Said[]) => WrittenChat

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** `head`, the messages, `tail`. */
function written(
  path: string,
  head: string,
  messages: readonly string[],
  tail: string,
  others: readonly ExportFile[] = [],
): WrittenChat {
  const bytes = bytesOf(head + messages.join('') + tail)
  let end = bytesOf(head).length
  const ends = messages.map(message => {
    end += bytesOf(message).length
    return end
  })
  return {
    files: (pieceSize, length = bytes.length) => [...others, fileOf(path, bytes.subarray(0, length), pieceSize)],
    length: bytes.length,
    ends,
  }
}

const jsonl: ChatWriter = messages =>
  written(
    'chat.jsonl',
    '',
    messages.map(
      ({ speaker, text, at }, n) => `${JSON.stringify({ ...(n % 2 === 0 && { id: `m${n}` }), speaker, text, at })}\n`,
    ),
    '',
  )

const chatgpt: ChatWriter = messages => {
  const nodes = messages.map(({ speaker, text, at }, n) => {
    const author = { role: n % 2 === 0 ? 'user' : 'assistant', name: speaker }
    const message = { id: `m${n}`, author, create_time: at / 1000, content: { content_type: 'text', parts: [text] } }
    const node = { id: `m${n}`, parent: n === 0 ? 'root' : `m${n - 1}`, children: [`m${n + 1}`], message }
    return `,\n"m${n}": ${JSON.stringify(node, null, 1)}`
  })
  const head = '[\n{"id": "c", "title": "T [{\\"", "mapping": {"root": {"id": "root", "message": null, "parent": null}'
  return written('conversations.json', head, nodes, `}, "current_node": "m${messages.length - 1}"}\n]\n`)
}

const claude: ChatWriter = messages => {
  const records = messages.map(({ speaker, text, at }, n) => {
    const record = { uuid: `m${n}`, sender: speaker, text, created_at: new Date(at).toISOString(), attachments: [] }
    return (n === 0 ? '' : ',') + JSON.stringify(record)
  })
  return written('conversations.json', '[{"uuid": "c", "name": "N", "chat_messages": [', records, ']}]')
}

const slack: ChatWriter = messages => {
  const names = [...new Set(messages.map(({ speaker }) => speaker))]
  const users = names.map((name, n) => ({ id: `U${n}`, profile: { real_name: name } }))
  const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
  const records = messages.map(({ speaker, text, at }, n) => {
    const ts = `${Math.floor(at / 1000)}.${String(n).padStart(6, '0')}`
    const record = { type: 'message', user: `U${names.indexOf(speaker)}`, text: escaped(text), ts }
    return (n === 0 ? '' : ',\n') + JSON.stringify(record, null, 1)
  })
  return written('kiln/2025-03-14.json', '[\n', records, '\n]', [fileOf('users.json', JSON.stringify(users))])
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Of a clock of 24 hours in UTC, day first. */
function whatsapp(bracketed: boolean, end: string): ChatWriter {
  return messages => {
    const lines = messages.map(({ speaker, text, at }) => {
      const date = new Date(at)
      const day = `${two(date.getUTCDate())}/${two(date.getUTCMonth() + 1)}/${date.getUTCFullYear()}`
      const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`
      const head = bracketed ? `[${day}, ${time}:${two(date.getUTCSeconds())}]` : `${day}, ${time} -`
      return `${head} ${speaker}: ${text.replaceAll('\n', end)}${end}`
    })
    return written('WhatsApp Chat with Ana.txt', '\ufeff', lines, '')
  }
}

const mail: ChatWriter = messages => {
  const mails = messages.map(({ speaker, text, at }, n) => {
    const name = `=?utf-8?B?${Buffer.from(speaker).toString('base64')}?=`
    const head = [
      'From writer@example.org Fri Mar 14 10:00:00 2025',
      `From: ${name} <s${Buffer.from(speaker).toString('hex')}@example.org>`,
      `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
      `Message-ID: <m${n}@example.org>`,
      ...(n === 0 ? [] : [`In-Reply-To: <m${n - 1}@example.org>`]),
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
    ]
    return `${head.join('\n')}\n\n${text.replace(/^(>*From )/gm, '>$1')}\n\n`
  })
  return written('chat.mbox', '', mails, '')
}

export const WRITERS: readonly (readonly [string, ChatFormat, ChatWriter])[] = [
  ['JSON Lines', 'jsonl', jsonl],
  ['an export of ChatGPT', 'chatgpt', chatgpt],
  ['an export of Claude', 'claude', claude],
  ['an export of Slack', 'slack', slack],
  ['a chat of WhatsApp from Android', 'whatsapp', whatsapp(false, '\n')],
  ['a chat of WhatsApp from iOS', 'whatsapp', whatsapp(true, '\r\n')],
  ['an mbox of mails', 'mail', mail],
]
