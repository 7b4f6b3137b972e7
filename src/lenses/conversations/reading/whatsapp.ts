/** Reads exports of WhatsApp chats: a text file that includes WhatsApp's own notices, in English and Spanish. */
import type { Instant } from '../../../base/clock.ts'
import { readDate } from '../../../model/instant.ts'
import type { Attachment } from '../model.ts'
import { momentIn } from './dates.ts'
import {
  type DateOrder,
  type ExportFile,
  type Findings,
  folderOf,
  linesOf,
  MAX_HELD_BYTES,
  type MessageDraft,
  type Reader,
  type ReaderOptions,
  textPieces,
  withoutExtension,
} from './reader.ts'

interface RawMessage {
  readonly first: FirstLine
  readonly line: number
  readonly more: string[]
}

export const readWhatsapp: Reader = async function* (files, options, findings) {
  for (const file of files) {
    const raw = await rawMessages(file, findings)
    const title = nameOfChat(file, raw, files.length === 1 ? options.conversation : null, findings)
    const order = options.dateOrder ?? orderOf(file, raw, findings)
    const messages = raw.flatMap(one => draftOf(one, file.path, order, options, findings) ?? [])
    yield { id: options.conversation === title ? title : `whatsapp:${title}`, title, messages, isOrdered: true }
  }
}

/** Keeps messages in the order of the file: their times may have only minutes, and clocks are set back in autumn. */
async function rawMessages(file: ExportFile, findings: Findings): Promise<readonly RawMessage[]> {
  const found: RawMessage[] = []
  let shape: LineShape | null = null
  let before = 0
  for await (const { number, text } of linesOf(textPieces(file, findings, MAX_HELD_BYTES))) {
    const first: FirstLine | null = firstLineOf(text, shape)
    if (first !== null) {
      shape ??= first.shape
      found.push({ first, line: number, more: [] })
    } else if (found.length > 0) found.at(-1)?.more.push(text)
    else if (text.trim() !== '') before = number
  }
  if (before > 0) {
    const place = { path: file.path, line: before }
    findings.problem(place, 'no message has begun up to here: expected a date and a time in front of a message')
  }
  return found
}

function draftOf(
  { first, line, more }: RawMessage,
  path: string,
  order: DateOrder,
  { zone }: ReaderOptions,
  findings: Findings,
): MessageDraft | null {
  const place = { path, line }
  const named = isEventLine(first.rest) ? null : /^(.{1,100}?):(?:\s|$)/.exec(first.rest)
  const raw = named === null ? '' : [first.rest.slice(named[0].length), ...more].join('\n').trimEnd()
  const content = contentOf(raw)
  const isEmpty = content.attachments.length === 0 && !content.deleted
  if (named === null || (isEmpty && isEventText(raw))) {
    findings.leave('line by WhatsApp itself')
    return null
  }
  if (isEmpty && content.text.trim() === '') {
    findings.leave('empty message')
    return null
  }
  const local = localOf(first, order)
  if (local === null) findings.problem(place, `${first.written} is not a time; it was stored without one`)
  return {
    id: null,
    // WhatsApp puts a tilde before the name of a person who is not among the contacts.
    speaker: (named[1] as string).replace(/^[\u200e\u200f]*~\s*/, ''),
    role: null,
    moment: local === null ? null : momentIn(local, zone),
    written: first.written,
    ...content,
    place,
  }
}

/**
 * Name of the chat, taken from the name that WhatsApp gives the export: on Android the file's name; on iOS the folder's, where the file is
 * always `_chat.txt`.
 */
function nameOfChat(file: ExportFile, raw: readonly RawMessage[], given: string | null, findings: Findings): string {
  if (given !== null) return given
  const name = withoutExtension(file.path)
  const known = chatNameIn(name) ?? chatNameIn(folderOf(file.path))
  if (known !== null) return known
  if (!/^_?chat$/i.test(name)) return name
  // In exports from iOS, the first line is attributed to the group, or to the person with whom the chat is.
  const first = raw[0]?.first.rest ?? ''
  const speaker = /^(.{1,100}?):\s/.exec(first)
  if (speaker !== null && isEventText(first.slice(speaker[0].length))) return speaker[1] as string
  findings.problem({ path: file.path }, `this chat has no name; it was named ${name}: give its name`)
  return name
}

/** Name of the chat, from the name of the exported file or its folder; null where the name does not contain one. */
function chatNameIn(name: string): string | null {
  // When an export is downloaded again, a number is added to its name, as in `WhatsApp Chat with Mira (1).txt`.
  const plain = name.replace(ANY_MARK, '').replace(/ \(\d+\)$/, '')
  const match = /^(?:WhatsApp Chat with|WhatsApp Chat -|Chat de WhatsApp con|Chat de WhatsApp -)\s+(.+?)$/i.exec(plain)
  return match?.[1]?.trim() ?? null
}

/** The shape of the lines that begin a message: `[14/03/2025, 10:00:00] Mira: Hi` (iOS) or `14/03/2025, 10:00 - Mira: Hi` (Android). */
interface LineShape {
  readonly isBracketed: boolean
  readonly separator: string
}

/** A parsed first line of a message; such a line begins with a date and a time. */
interface FirstLine {
  /**
   * The three numbers of the date in the order in which the line writes them. Either the year is last, or a year with four digits is first
   * and the month follows it.
   */
  readonly parts: readonly [number, number, number]
  readonly isYearFirst: boolean
  readonly hour: number
  /** Minutes and seconds as `mm:ss`; the seconds are `00` where the line has none. */
  readonly minutes: string
  /** Half of the day on a 12-hour clock, which counts from 12 (or from 0, as in Japan); null: a 24-hour clock. */
  readonly half: 'am' | 'pm' | null
  /** Date and time exactly as the line writes them; ids of messages are derived from this text. */
  readonly written: string
  readonly isPadded: boolean
  readonly shape: LineShape
  /** The rest of the line after the time: speaker and text (`Mira: Hi`), or a notice by WhatsApp. */
  readonly rest: string
}

/** Pattern of a date in any language: in Arabic a direction mark follows each number, in Korean a blank follows each point. */
const DATE = String.raw`(?<a>\d{1,4})\u200f?(?<separator>[./-] ?)(?<b>\d{1,2})\u200f?\k<separator>(?<c>\d{1,4})\.?`
/** Half of the day: written after the time in most languages (with no-break spaces; Spanish writes `a. m.`), before it in others. */
const AM = /^(?:a\.?\s*m\.?|ص|오전|上午|午前)$/i
const BEHIND = String.raw`[ap]\.?\s*m\.?|[صم]`
const BEFORE = '오전|오후|上午|下午|午前|午後'
const TIME = String.raw`(?<hour>\d{1,2})[:.](?<minute>\d\d)(?:[:.](?<second>\d\d))?(?:\s*(?<behind>${BEHIND}))?`
/**
 * Pattern of a date followed by a time, with a comma, a blank, or a word between them (`klo` in Finnish, `um` in German, `à` in French).
 */
const BOTH = String.raw`(?<written>${DATE}[,،]?\s+(?:(?<before>${BEFORE})\s*|\p{L}{1,4}\s+)?${TIME})`
const BRACKETED = new RegExp(String.raw`^\[${BOTH}\]\s?`, 'iu')
const PLAIN = new RegExp(String.raw`^${BOTH}\s+[-–]\s`, 'iu')
/**
 * Direction marks and byte order mark before a line; WhatsApp puts direction marks where a line begins with a digit or with a letter of
 * another writing direction.
 */
const MARKS = /^[\u200e\u200f\ufeff]+/
/** Number of characters at the start of a line in which a date and time are searched. */
const LONGEST = 80

/**
 * Parses the first line of a message; null for a line that continues the message above. `shape`: the shape of the file's first message,
 * which all others must have.
 */
export function firstLineOf(line: string, shape: LineShape | null): FirstLine | null {
  const text = line.replace(MARKS, '')
  const isBracketed = text.startsWith('[')
  if (shape !== null && shape.isBracketed !== isBracketed) return null
  // The last four bits of the code of an Arabic or Persian digit are its value.
  const head = text.slice(0, LONGEST).replace(/[\u0660-\u0669\u06f0-\u06f9]/g, it => String(it.charCodeAt(0) & 0xf))
  const match = (isBracketed ? BRACKETED : PLAIN).exec(head)
  if (match === null) return null
  const { written = '', a = '', separator = '', b = '', c = '', ...time } = match.groups ?? {}
  const half = time['before'] ?? time['behind']
  if (shape !== null && shape.separator !== separator) return null
  const isYearFirst = a.length === 4
  if (isYearFirst ? c.length > 2 : a.length > 2 || c.length === 3 || c.length < 2) return null
  return {
    parts: [Number(a), Number(b), Number(c)],
    isYearFirst,
    hour: Number(time['hour']),
    minutes: `${time['minute']}:${time['second'] ?? '00'}`,
    half: half === undefined ? null : AM.test(half) ? 'am' : 'pm',
    written: written.replace(/\s+/g, ' '),
    isPadded: a.length > 1 && b.length > 1,
    shape: { isBracketed, separator },
    rest: text.slice(match[0].length),
  }
}

/** The local time of a line, as if it were UTC; null where the numbers are no valid time. */
function localOf({ parts, isYearFirst, hour, minutes, half }: FirstLine, order: DateOrder): Instant | null {
  const [a, b, c] = parts
  const [year, month, day] = isYearFirst ? [a, b, c] : order === 'day-first' ? [c, b, a] : [c, a, b]
  if (half !== null && hour > 12) return null
  const two = (part: number): string => String(part).padStart(2, '0')
  const date = `${year < 100 ? 2000 + year : String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return readDate(`${date}T${two(half === null ? hour : (hour % 12) + (half === 'pm' ? 12 : 0))}:${minutes}`)
}

/**
 * Whether the day or the month comes first in a file's dates; this follows the telephone's region, and the file does not say it. A number
 * above 12 is a day. Otherwise the order in which fewer messages are earlier than the one above; in case of a tie day first, unless the
 * file has a 12-hour clock and numbers without leading zeros, as in the United States.
 */
function orderOf({ path }: ExportFile, raw: readonly RawMessage[], findings: Findings): DateOrder {
  const open = raw.map(({ first }) => first).filter(({ isYearFirst }) => !isYearFirst)
  const chosen = (order: DateOrder, doubt: string): DateOrder => {
    findings.problem({ path }, `${doubt}; ${order} was assumed; name the other with a date order`)
    return order
  }
  const dayFirst = open.filter(({ parts }) => parts[0] > 12 && parts[1] <= 12).length
  const monthFirst = open.filter(({ parts }) => parts[1] > 12 && parts[0] <= 12).length
  if (dayFirst > 0 && monthFirst > 0) {
    const order = dayFirst >= monthFirst ? 'day-first' : 'month-first'
    return chosen(order, 'some of its dates are written day first, others month first')
  }
  if (dayFirst + monthFirst > 0) return dayFirst > 0 ? 'day-first' : 'month-first'
  if (open.every(({ parts }) => parts[0] === parts[1])) return 'day-first'
  const [stepsBack, otherStepsBack] = [backwards(open, 'day-first'), backwards(open, 'month-first')]
  if (stepsBack !== otherStepsBack) return stepsBack < otherStepsBack ? 'day-first' : 'month-first'
  const isAmerican = !raw.every(({ first }) => first.isPadded) && open.every(({ half }) => half !== null)
  return chosen(isAmerican ? 'month-first' : 'day-first', 'its dates can be read day first or month first')
}

/** Number of messages whose time is earlier than that of the message above. */
function backwards(lines: readonly FirstLine[], order: DateOrder): number {
  const times = lines.flatMap(line => localOf(line, order) ?? [])
  return times.filter((at, index) => at < (times[index - 1] ?? at)).length
}

const ANY_MARK = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Pattern of WhatsApp's notice at the end of an edited message, after a blank and sometimes a direction mark. */
const EDITED = /^<(?:This message was edited|Se editó este mensaje|Este mensaje fue editado|Mensaje editado)\.?>$/i
const DELETED =
  /^(?:This message was deleted|You deleted this message|This message was deleted by admin .{1,100}|Se eliminó este mensaje|Este mensaje fue eliminado|Este mensaje se eliminó|Eliminaste este mensaje|Mensaje eliminado|Un admin(?:istrador)?\. eliminó este mensaje)\.?$/i

/** Pattern of the notice `<Media omitted>`, which exports without media have in place of a picture or sound. */
const MEDIA_OMITTED = /^<(?:Media omitted|Multimedia omitido|Archivo omitido|Medios omitidos)>$/i
const KINDS: readonly (readonly [string, string])[] = [
  ['image', 'image|photo|imagen|foto'],
  ['video', 'video note|nota de v[ií]deo|video|vídeo|gif'],
  ['audio', 'audio|voice message|mensaje de voz'],
  ['sticker', 'sticker|pegatina'],
  ['document', 'document|documento'],
  ['contact', 'contact card|tarjeta de contacto|contacto'],
]
/**
 * Pattern of the iOS notice in place of omitted media, by kind; for a document it follows the document's name: `report.pdf • 3 pages
 * document omitted`.
 */
const KIND_OMITTED = new RegExp(
  String.raw`^([\s\S]*?)[\u200e\u200f]{0,3}(${KINDS.map(([, words]) => words).join('|')}) (?:omitted|omitid[oa])$`,
  'i',
)
const ATTACHED = /[\u200e\u200f]{0,3}<(?:attached|adjunto|archivo adjunto): ([^<>\n]+)>/gi
/** Pattern of the Android notice of an attached file; text on the lines below the notice is the caption. */
const FILE_ATTACHED = /^[\u200e\u200f]*([^\n]+?) \((?:file attached|archivo adjunto)\)[ \t]*(?:\n|$)/i

type Content = Required<Pick<MessageDraft, 'text' | 'deleted'>> &
  Pick<MessageDraft, 'edited'> & { readonly attachments: readonly Attachment[] }

/** Content of a message: text, attachments, whether it was edited or deleted. WhatsApp's own notices are removed from the text. */
function contentOf(raw: string): Content {
  const end = raw.lastIndexOf('<')
  const isEdited = end >= 0 && EDITED.test(raw.slice(end).trimEnd())
  let text = isEdited ? withoutEnd(raw.slice(0, end)) : raw
  const content = (own: string, attachments: readonly Attachment[], deleted = false): Content => ({
    ...{ text: own, attachments, deleted },
    ...(isEdited && { edited: { at: null } }),
  })
  const bare = text.replace(ANY_MARK, '').trim()
  if (DELETED.test(bare)) return content('', [], true)
  if (MEDIA_OMITTED.test(bare)) return content('', [attachment('media', null)])
  const omitted = KIND_OMITTED.exec(text.trim())
  // A person may also write "image omitted"; WhatsApp's own notice has a direction mark in front, or is the whole text.
  if (omitted !== null && (omitted[1] === '' || /[\u200e\u200f]/.test(text))) {
    const before = (omitted[1] ?? '').replace(ANY_MARK, '').trim()
    const kind = KINDS.find(([, words]) => new RegExp(`^(?:${words})$`, 'i').test(omitted[2] as string))?.[0] ?? 'media'
    if (kind !== 'document') return content(before, [attachment(kind, null)])
    return content('', [attachment(kind, before.split(' • ')[0] || null)])
  }
  const names: string[] = []
  const taken = (_: string, name: string): string => {
    names.push(name.trim())
    return ''
  }
  text = text
    .replace(ATTACHED, taken)
    .replace(FILE_ATTACHED, taken)
    .replace(/^[\u200e\ufeff]+/, '')
  return content(
    names.length > 0 ? text.trim() : text,
    names.map(name => attachment(kindOfName(name), name)),
  )
}

function withoutEnd(text: string): string {
  const marked = text.trimEnd()
  return marked.replace(/[\u200e\u200f]{1,3}$/, '').trimEnd()
}

function attachment(kind: string, name: string | null): Attachment {
  return { kind, caption: null, name }
}

/**
 * Kind of an attachment by the name of its file: `IMG-20250314-WA0001.jpg`, `00000012-PHOTO-2025-03-14-10-00-00.jpg`,
 * `PTT-20250314-WA0002.opus`.
 */
function kindOfName(name: string): string {
  if (/\.webp$|sticker|^STK-/i.test(name)) return 'sticker'
  if (/\.(?:jpe?g|png|heic|gif)$/i.test(name)) return 'image'
  if (/\.(?:mp4|mov|3gp|mkv)$/i.test(name)) return 'video'
  if (/\.(?:opus|m4a|mp3|aac|ogg|amr)$/i.test(name)) return 'audio'
  return /\.vcf$/i.test(name) ? 'contact' : 'document'
}

/** Pattern of WhatsApp's notices of events, such as that a person joined. */
const EVENT = new RegExp(
  [
    'end-to-end encrypted|cifrad[oa]s? de extremo a extremo',
    'created (?:this |the )?group|creó (?:este|el) grupo|creaste (?:este|el) grupo',
    ' added |were added|añadió|agregó|añadiste|agregaste|te añad|te agreg',
    ' removed | left$|left the group|salió|saliste|eliminó a|eliminaste a|te eliminó',
    'joined|se unió|te uniste|requested to join',
    ' changed | cambió | cambiaste |security code|código de seguridad',
    'now an admin|ahora eres admin|dismissed as admin',
    'blocked|unblocked|bloqueaste|desbloqueaste|is a contact|es un contacto',
    'disappearing messages|mensajes temporales|pinned a message|fijó un mensaje|fijaste un mensaje',
    'voice call|video call|missed (?:voice|video|group)|no answer|started a call|llamada|videollamada|sin respuesta',
    'waiting for this message|esperando este mensaje|business account|cuenta de empresa',
  ].join('|'),
  'i',
)
const ENCRYPTED =
  /^[\u200e\u200f]*(?:Messages and calls are end-to-end encrypted|Messages to this (?:chat|group) .{0,60}end-to-end encryption|Los mensajes y las llamadas están cifrados|Los mensajes y llamadas están cifrados)/i
/**
 * Pattern of the Android notice that a group was named. Where the group's name contains a colon, the notice looks like a message of a
 * person with a long name.
 */
const NAMED_GROUP = new RegExp(
  String.raw`^(?:(?:(?!:\s).){1,100}? )?(?:` +
    '(?:changed the (?:subject|group name|group description)|cambi(?:ó|aste) el (?:asunto|nombre)(?: del grupo)?) (?:from|to|de|a) |' +
    '(?:created (?:this |the )?group|cre(?:ó|aste) (?:este |el )?grupo) ["“«])',
  'i',
)

/** Whether a text that is attributed to a speaker is in fact WhatsApp's notice of an event. */
function isEventText(text: string): boolean {
  // On iOS, notices of events begin with a direction mark, which people hardly ever type.
  return ENCRYPTED.test(text) || (text.startsWith('\u200e') && EVENT.test(text))
}

/** Whether a line that contains a colon is WhatsApp's notice of an event and not a message with a speaker. */
function isEventLine(rest: string): boolean {
  return ENCRYPTED.test(rest) || NAMED_GROUP.test(rest.replace(ANY_MARK, ''))
}
