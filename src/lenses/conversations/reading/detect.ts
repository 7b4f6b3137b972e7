/** Which format an export has, by what is in it: names of files get changed, and several formats use the same ones. */
import { isRecord } from '../../../base/record.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { ChatFields } from './chat-fields.ts'
import { type ExportFile, extensionOf, firstBytes } from './export-file.ts'
import { type ChatFormat, FORMAT_NAMES, FORMATS } from './formats.ts'
import { type JsonElement, jsonElements } from './json-elements.ts'
import { repairJson } from './json-repair.ts'
import { isSlackDay } from './slack.ts'
import { isSlackList } from './slack-people.ts'
import { labelOf } from './text-pieces.ts'
import { firstLineOf } from './whatsapp-lines.ts'

export interface Detected {
  readonly format: ChatFormat
  /** Those that belong to it. */
  readonly files: readonly ExportFile[]
  /** Paths of the others. */
  readonly others: readonly string[]
}

/** What is looked at of a file: enough for the first conversation to show its fields. */
const LOOKED_AT = 256 * 1024
const MAX_LINES = 50
const MANY = ['mapping', 'chat_messages']

/** `map`: of JSONL. Throws `invalid_argument` where no format fits, or more than one does. */
export async function detect(
  files: readonly ExportFile[],
  map: Readonly<Record<string, string>> = {},
): Promise<Detected> {
  const found = new Map<ChatFormat, ExportFile[]>()
  const others: ExportFile[] = []
  for (const file of files) {
    // An export of Slack has a file for every day of every channel: the first few say what the others are.
    const isKnownDay = isSlackDay(file.path) && found.has('slack')
    const format = isKnownDay ? 'slack' : await formatOf(file, files.length === 1, map)
    const own = format === null ? others : (found.get(format) ?? [])
    own.push(file)
    if (format !== null) found.set(format, own)
  }
  return decided(files, found, others)
}

function decided(
  files: readonly ExportFile[],
  found: ReadonlyMap<ChatFormat, readonly ExportFile[]>,
  others: readonly ExportFile[],
): Detected {
  const [first, second] = [...found.keys()]
  const known = FORMAT_NAMES.map(format => `${format} (${FORMATS[format].name})`).join('; ')
  const place = files.length === 1 ? (files[0] as ExportFile).path : `${files.length} files`
  const packed = others.find(({ path }) => extensionOf(path) === 'zip')
  if (first === undefined && packed !== undefined) {
    throw invalidArgument('format', packed.path, 'an export that was unpacked: unpack it, and name the folder')
  }
  if (first === undefined) {
    throw new QuerentError(
      'invalid_argument',
      `format: ${place}: no conversations in a format that is known here; known are ${known}. Name the format if it is one of them`,
      { field: 'format', value: place, expected: [...FORMAT_NAMES] },
    )
  }
  if (second !== undefined) {
    const each = [...found].map(([format, list]) => `${format} (${(list[0] as ExportFile).path})`).join(', ')
    throw new QuerentError(
      'invalid_argument',
      `format: ${place} are of several formats: ${each}; read them one format at a time`,
      { field: 'format', value: [...found.keys()], expected: 'one format' },
    )
  }
  const own = found.get(first) as readonly ExportFile[]
  const lists = first === 'slack' ? others.filter(({ path }) => isSlackList(path)) : []
  const rest = others.filter(file => !lists.includes(file))
  return { format: first, files: [...lists, ...own], others: rest.map(({ path }) => path) }
}

/** Files of a folder that could be of a format that the caller names, whatever is in them. */
export function filesOf(format: ChatFormat, files: readonly ExportFile[]): Detected {
  const { extensions } = FORMATS[format]
  const isOwn = ({ path }: ExportFile): boolean => files.length === 1 || extensions.includes(extensionOf(path))
  return { format, files: files.filter(isOwn), others: files.filter(file => !isOwn(file)).map(({ path }) => path) }
}

/** Null for a file that is none, or not recognised. */
async function formatOf(
  file: ExportFile,
  isAlone: boolean,
  map: Readonly<Record<string, string>>,
): Promise<ChatFormat | null> {
  const extension = extensionOf(file.path)
  const isCandidate = FORMAT_NAMES.some(format => FORMATS[format].extensions.includes(extension))
  if (!isCandidate && !isAlone) return null
  const bytes = await firstBytes(file, LOOKED_AT)
  const text = new TextDecoder(labelOf(bytes)).decode(bytes)
  const isWhole = bytes.length < LOOKED_AT
  if (/^\s*[[{]/.test(text) && !isFirstLineOfChat(text)) return await jsonFormat(text, isWhole, extension, map)
  const lines = text.split(/\r?\n/, MAX_LINES)
  if (isMail(lines)) return 'mail'
  return lines.some(line => firstLineOf(line, null) !== null) ? 'whatsapp' : null
}

/** `[14/03/25, 10:00:00] Mira: Hi` begins as a list does. */
function isFirstLineOfChat(text: string): boolean {
  return firstLineOf(text.slice(0, text.search(/\r?\n|$/)), null) !== null
}

async function jsonFormat(
  text: string,
  isWhole: boolean,
  extension: string,
  map: Readonly<Record<string, string>>,
): Promise<ChatFormat | null> {
  const isList = text.trimStart().startsWith('[')
  for await (const element of jsonElements([text], text.length, { isJson: true, isEnded: false })) {
    const format = formatOfRecord(recordOf(element), isList)
    if (format !== null) return format
    break
  }
  if (isList) return null
  const isCutInFirst = !isWhole && !text.trimStart().includes('\n')
  const isMessages = isCutInFirst && extension !== 'json' ? isMessage(shownOf(text), map) : isLines(text, isWhole, map)
  return isMessages ? 'jsonl' : null
}

function formatOfRecord(record: Readonly<Record<string, unknown>>, isList: boolean): ChatFormat | null {
  if (isRecord(record['mapping'])) return 'chatgpt'
  if (Array.isArray(record['chat_messages'])) return 'claude'
  const isMessage = record['type'] === 'message' || 'user' in record || 'text' in record
  return isList && typeof record['ts'] === 'string' && isMessage ? 'slack' : null
}

function recordOf({ text }: JsonElement): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    if (!text.startsWith('{')) return {}
    // Longer than what was looked at, or broken: its members say what it is as well.
    const repaired = MANY.map(many => repairJson(text, many).value)
    return Object.assign({}, ...repaired) as Readonly<Record<string, unknown>>
  }
}

/** Whether a line of the first few is a message. */
function isLines(text: string, isWhole: boolean, map: Readonly<Record<string, string>>): boolean {
  const lines = text.split(/\r?\n/, MAX_LINES)
  return (isWhole || lines.length > 1 ? lines : []).some(line => {
    try {
      return isMessage(JSON.parse(line), map)
    } catch {
      return false
    }
  })
}

function isMessage(record: unknown, map: Readonly<Record<string, string>>): boolean {
  return isRecord(record) && new ChatFields(map).value(record, 'text') !== undefined
}

/** What is seen of an object that is cut off, with the name of the member that is not seen to its end. */
function shownOf(text: string): Readonly<Record<string, unknown>> {
  const { value, broken } = repairJson(text.trimStart(), '')
  return Object.assign({}, value, ...broken.map(({ at }) => ({ [at.slice(1)]: '' }))) as Record<string, unknown>
}

const HEADER = /^(?:from|date|subject|message-id|received|return-path|delivered-to|mime-version|to|x-[a-z0-9-]+):/i

/** A separator of mbox and a header below it, or two headers at the top. */
function isMail(lines: readonly string[]): boolean {
  const begin = lines.findIndex(line => line.trim() !== '')
  if (begin < 0) return false
  const isMbox = /^From \S.*\d{4}/.test(lines[begin] as string)
  const head = lines.slice(isMbox ? begin + 1 : begin)
  const end = head.indexOf('')
  const headers = (end < 0 ? head : head.slice(0, end)).filter(line => HEADER.test(line))
  return headers.length >= (isMbox ? 1 : 2) && /^[!-9;-~]+:/.test(head[0] ?? '')
}
