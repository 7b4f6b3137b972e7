/** Reads exports of conversations in any supported format into the common form; the format is recognised by the content. */
import { isRecord } from '../../../base/record.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import type { Conversation, Profile } from '../model.ts'
import { readChatgpt } from './chatgpt.ts'
import { readClaude } from './claude.ts'
import { zoneOf } from './dates.ts'
import { jsonElements } from './json.ts'
import { ChatFields, readJsonl } from './jsonl.ts'
import { readMail } from './mail.ts'
import {
  type DateOrder,
  decoderFor,
  type ExportFile,
  extensionOf,
  Findings,
  finished,
  firstBytes,
  listed,
  nameOf,
  type Problem,
  type Reader,
  requireDistinct,
} from './reader.ts'
import { isSlackDay, isSlackList, readSlack } from './slack.ts'
import { firstLineOf, readWhatsapp } from './whatsapp.ts'

export type ChatFormat = 'jsonl' | 'chatgpt' | 'claude' | 'slack' | 'whatsapp' | 'mail'

interface FormatRow {
  readonly read: Reader
  /** Name of the export format as users see it. */
  readonly name: string
  /** Extensions of the format's files, in lower case, used to choose files in folders with many files. */
  readonly extensions: readonly string[]
}

const FORMATS: Readonly<Record<ChatFormat, FormatRow>> = {
  jsonl: { read: readJsonl, name: 'JSON Lines, a message a line', extensions: ['jsonl', 'ndjson', 'jsonlines'] },
  chatgpt: { read: readChatgpt, name: 'export of ChatGPT (conversations.json)', extensions: ['json'] },
  claude: { read: readClaude, name: 'export of Claude (conversations.json)', extensions: ['json'] },
  slack: { read: readSlack, name: 'export of Slack', extensions: ['json'] },
  whatsapp: { read: readWhatsapp, name: 'export of a chat of WhatsApp (text)', extensions: ['txt'] },
  mail: { read: readMail, name: 'mails (mbox or EML)', extensions: ['mbox', 'mbx', 'eml', ''] },
}
const FORMAT_NAMES = Object.keys(FORMATS) as readonly ChatFormat[]

export interface ReadingOptions {
  /** Export format of the files; absent: recognised from their content. */
  readonly format?: ChatFormat | undefined
  /** Kind of conversation to assume; absent: `assistant` where an assistant speaks in it, else `people`. */
  readonly profile?: Profile | undefined
  /** Time zone of times without one: `+02:00`, `Europe/Madrid`. Absent: UTC. */
  readonly zone?: string | undefined
  /** For JSONL: a map from message fields to the names of the record's fields. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Name of the conversation, for an export whose file holds one conversation without naming it. */
  readonly conversation?: string | undefined
  /** For WhatsApp: whether the day or the month comes first in dates. Absent: derived from the dates. */
  readonly dateOrder?: DateOrder | undefined
}

/**
 * Reads the conversations of an export one after the other, as they are found; those of ChatGPT and Claude are read one at a time, however
 * large the file is. Problems are added to `findings`. Throws `invalid_argument` or `unknown_field` for wrong options, and
 * `invalid_argument` where the format is neither given nor recognised.
 */
export async function* readConversations(
  files: readonly ExportFile[],
  options: ReadingOptions,
  findings: Findings,
): AsyncIterable<Conversation> {
  requireDistinct(files)
  const { format: given, profile = null, map = {}, zone, conversation = null, dateOrder = null } = options
  const fields = new ChatFields(map)
  const readerOptions = { map, zone: zone === undefined ? null : zoneOf(zone), conversation, dateOrder }
  const { format, files: own, others } = given === undefined ? await detect(files, fields) : filesOf(given, files)
  if (own.length === 0) throw invalidArgument('format', given, 'a format that one of the files has')
  findings.leave(`file that is not part of the export (${listed(others.map(nameOf))})`, others.length)
  const seen = new Set<string>()
  for await (const draft of FORMATS[format].read(own, readerOptions, findings)) {
    const place = draft.messages[0]?.place ?? { path: (own[0] as ExportFile).path }
    if (seen.has(draft.id)) {
      findings.problem(place, `the conversation ${draft.id} occurred before; read the two exports one after the other`)
      continue
    }
    seen.add(draft.id)
    const read = finished(draft, profile, findings)
    if (read === null) findings.leave('conversation without a message')
    else yield read
  }
}

export interface Reading {
  readonly conversations: readonly Conversation[]
  readonly problems: readonly Problem[]
  /** Number of problems found in addition to the listed ones, which are limited. */
  readonly unlisted: number
  /** Counts of records that are not messages and were left out, by kind. */
  readonly left: Readonly<Record<string, number>>
}

/** Reads all conversations of an export into memory. */
export async function readAll(files: readonly ExportFile[], options: ReadingOptions = {}): Promise<Reading> {
  const findings = new Findings()
  const conversations: Conversation[] = []
  for await (const conversation of readConversations(files, options, findings)) conversations.push(conversation)
  const { problems, unlisted, left } = findings
  return { conversations, problems, unlisted, left }
}

interface FilesOfFormat {
  readonly format: ChatFormat
  /** Files of the folder that have the recognised format and belong to the export. */
  readonly files: readonly ExportFile[]
  /** Paths of files in the folder that do not belong to the export and were not read. */
  readonly others: readonly string[]
}

/** The files of a folder that may have the export format named by the caller, chosen by name regardless of content. */
function filesOf(format: ChatFormat, files: readonly ExportFile[]): FilesOfFormat {
  const { extensions } = FORMATS[format]
  const isOwn = ({ path }: ExportFile): boolean => files.length === 1 || extensions.includes(extensionOf(path))
  return { format, files: files.filter(isOwn), others: files.filter(file => !isOwn(file)).map(({ path }) => path) }
}

/**
 * Recognises the export format of files by their content. Throws `invalid_argument` where no format fits, or several do. File names are
 * hardly used, since people rename files.
 */
export async function detect(
  files: readonly ExportFile[],
  fields: ChatFields = new ChatFields({}),
): Promise<FilesOfFormat> {
  const found = new Map<ChatFormat, ExportFile[]>()
  const others: ExportFile[] = []
  for (const file of files) {
    // A Slack export has a file for each day of each channel, so once a few files are recognised, the others are not examined.
    const isKnownDay = isSlackDay(file.path) && found.has('slack')
    const format = isKnownDay ? 'slack' : await formatOf(file, files.length === 1, fields)
    const own = format === null ? others : (found.get(format) ?? [])
    own.push(file)
    if (format !== null) found.set(format, own)
  }
  const value = files.length === 1 ? (files[0] as ExportFile).path : `${files.length} files`
  const [first, second] = found
  if (first === undefined) {
    const packed = others.find(({ path }) => extensionOf(path) === 'zip')
    if (packed !== undefined) {
      throw invalidArgument('format', packed.path, 'an export; a ZIP archive of one is added by its own path')
    }
    const known = FORMAT_NAMES.map(format => `${format} (${FORMATS[format].name})`).join('; ')
    const message = `format: ${value}: not an export of conversations in a known format; known formats are ${known}. Name the format if it is one of them`
    throw new QuerentError('invalid_argument', message, { field: 'format', value, expected: [...FORMAT_NAMES] })
  }
  if (second !== undefined) {
    const each = [...found].map(([format, list]) => `${format} (${(list[0] as ExportFile).path})`).join(', ')
    const message = `format: ${value} are of several formats: ${each}; read them one format at a time`
    throw new QuerentError('invalid_argument', message, {
      ...{ field: 'format', value: [...found.keys()], expected: 'one format' },
    })
  }
  const [format, own] = first
  const lists = format === 'slack' ? others.filter(({ path }) => isSlackList(path)) : []
  const rest = others.filter(file => !lists.includes(file))
  return { format, files: [...lists, ...own], others: rest.map(({ path }) => path) }
}

/** Number of bytes at the start of a file by which its format is recognised: enough to include the fields of the first conversation. */
const LOOKED_AT = 256 * 1024
const MAX_LINES = 50

/** The export format of a file, by its content; null: the file is no export, or its format is not recognised. */
async function formatOf(file: ExportFile, isAlone: boolean, fields: ChatFields): Promise<ChatFormat | null> {
  const extension = extensionOf(file.path)
  const isCandidate = FORMAT_NAMES.some(format => FORMATS[format].extensions.includes(extension))
  if (!isCandidate && !isAlone) return null
  const bytes = await firstBytes(file, LOOKED_AT)
  const text = decoderFor(bytes).decode(bytes)
  const lines = text.split(/\r?\n/, MAX_LINES)
  // A line of a WhatsApp chat such as `[14/03/25, 10:00:00] Mira: Hi` begins like a JSON list, but is none.
  if (/^\s*[[{]/.test(text) && firstLineOf(lines[0] as string, null) === null) {
    return await jsonFormat(text, lines, bytes.length < LOOKED_AT, extension, fields)
  }
  if (isMail(lines)) return 'mail'
  return lines.some(line => firstLineOf(line, null) !== null) ? 'whatsapp' : null
}

async function jsonFormat(
  text: string,
  lines: readonly string[],
  isWhole: boolean,
  extension: string,
  fields: ChatFields,
): Promise<ChatFormat | null> {
  const isList = text.trimStart().startsWith('[')
  for await (const element of jsonElements([text], text.length, { isJson: true, isEnded: false })) {
    const record = recordIn(element.text) ?? shownOf(element.text)
    if (isRecord(record['mapping'])) return 'chatgpt'
    if (Array.isArray(record['chat_messages'])) return 'claude'
    const isMessage = record['type'] === 'message' || 'user' in record || 'text' in record
    if (isList && typeof record['ts'] === 'string' && isMessage) return 'slack'
    break
  }
  if (isList) return null
  const isMessage = (record: unknown): boolean => isRecord(record) && fields.value(record, 'text') !== undefined
  const isCutInFirst = !isWhole && !text.trimStart().includes('\n')
  if (isCutInFirst && extension !== 'json') return isMessage(shownOf(text)) ? 'jsonl' : null
  const areSeen = isWhole || lines.length > 1
  return areSeen && lines.some(line => isMessage(recordIn(line))) ? 'jsonl' : null
}

function recordIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/**
 * Structure of JSON text that may be cut off or broken: the names of its members, at any depth, and whether each is a list or an object.
 */
function shownOf(text: string): Readonly<Record<string, unknown>> {
  const kinds: Readonly<Record<string, unknown>> = { '{': {}, '[': [] }
  const members = text.matchAll(/"([^"\\]{1,80})"\s*:\s*([{[]?)/g)
  return Object.fromEntries([...members].map(([, name = '', kind = '']) => [name, kinds[kind] ?? '']))
}

const HEADER = /^(?:from|date|subject|message-id|received|return-path|delivered-to|mime-version|to|x-[a-z0-9-]+):/i

/** Whether the text is mail: an mbox separator line followed by a header, or two header lines at the top. */
function isMail(lines: readonly string[]): boolean {
  const begin = lines.findIndex(line => line.trim() !== '')
  if (begin < 0) return false
  const isMbox = /^From \S.*\d{4}/.test(lines[begin] as string)
  const head = lines.slice(isMbox ? begin + 1 : begin)
  const end = head.indexOf('')
  const headers = (end < 0 ? head : head.slice(0, end)).filter(line => HEADER.test(line))
  return headers.length >= (isMbox ? 1 : 2) && /^[!-9;-~]+:/.test(head[0] ?? '')
}
