/** The formats of conversations that are read, and by whom. */
import { readChatgpt } from './chatgpt.ts'
import { readClaude } from './claude.ts'
import { readJsonl } from './jsonl.ts'
import { readMail } from './mail.ts'
import type { Reader } from './reader.ts'
import { readSlack } from './slack.ts'
import { readWhatsapp } from './whatsapp.ts'

export type ChatFormat = 'jsonl' | 'chatgpt' | 'claude' | 'slack' | 'whatsapp' | 'mail'

export interface FormatRow {
  readonly read: Reader
  /** For people. */
  readonly name: string
  /** Of its files in a folder of many; lower case. */
  readonly extensions: readonly string[]
}

export const FORMATS: Readonly<Record<ChatFormat, FormatRow>> = {
  jsonl: { read: readJsonl, name: 'JSON Lines, a message a line', extensions: ['jsonl', 'ndjson', 'jsonlines'] },
  chatgpt: { read: readChatgpt, name: 'export of ChatGPT (conversations.json)', extensions: ['json'] },
  claude: { read: readClaude, name: 'export of Claude (conversations.json)', extensions: ['json'] },
  slack: { read: readSlack, name: 'export of Slack, unpacked', extensions: ['json'] },
  whatsapp: { read: readWhatsapp, name: 'export of a chat of WhatsApp (text)', extensions: ['txt'] },
  mail: { read: readMail, name: 'mails (mbox or EML)', extensions: ['mbox', 'mbx', 'eml', ''] },
}

export const FORMAT_NAMES: readonly ChatFormat[] = Object.keys(FORMATS) as ChatFormat[]
