/** Reads mail threads from mbox and EML files, by the references that the mails themselves contain. */
import PostalMime, { type Email } from 'postal-mime'
import { type HtmlElement, htmlText } from '../../../text/html-text.ts'
import type { Attachment } from '../model.ts'
import { type Moment, momentIn, offsetAt, offsetOf, type Zone } from './dates.ts'
import {
  type ConversationDraft,
  derivedId,
  type ExportFile,
  type Findings,
  kindOfType,
  linesOf,
  MAX_HELD_BYTES,
  MAX_RECORD_BYTES,
  type MessageDraft,
  type Place,
  type Reader,
} from './reader.ts'

interface ReadMail {
  readonly id: string
  /** Id of the thread's first mail, according to the headers of this mail; null: this mail is the first. */
  readonly first: string | null
  /** Id of the thread as given by Gmail; null: the export does not give it. */
  readonly thread: string | null
  readonly subject: string
  readonly draft: MessageDraft
}

export const readMail: Reader = async function* (files, options, findings) {
  const mails = new Map<string, ReadMail>()
  const names = new Map<string, string>()
  for (const file of files) {
    for await (const raw of mailsIn(file, findings)) {
      const mail = await readOne(raw, options.zone, names, findings)
      if (mail === null) continue
      // A mail that occurs several times (as sent and as received, under several labels) is read once.
      const before = mails.get(mail.id)
      if (before === undefined) mails.set(mail.id, mail)
      else if (before.draft.text === mail.draft.text) findings.leave('copy of a mail')
      else findings.problem(raw.place, `the mail id ${mail.id} occurred before with another text; it was left out`)
    }
  }
  const firsts = new Map<string, string>()
  const threads = Map.groupBy(mails.values(), mail => mail.thread ?? firstOf(mail, mails, firsts))
  for (const [id, thread] of threads) yield conversationOf(id, thread, names)
}

interface RawMail {
  readonly bytes: Uint8Array
  /** Where the mail is in the export, for reports. `at`: the number of the mail in its file, from 1. */
  readonly place: Place
}

/** Line that separates two mails of an mbox file, after an empty line. The limit of 400 characters is never reached in practice. */
const SEPARATOR = /^From \S.{0,400}\d{4}/
/** A UTF-8 byte order mark as it appears in text that is decoded with one character per byte. */
const MARK = /^\u00ef\u00bb\u00bf/

/** The mails of a file, one after the other: all mails of an mbox file, or the single mail of an EML file. */
async function* mailsIn(file: ExportFile, findings: Findings): AsyncIterable<RawMail> {
  let isMbox: boolean | null = null
  let mail: { readonly line: number; text: string; length: number } | null = null
  let number = 0
  let isAfterEmpty = true
  let read = 0
  const taken = (): RawMail => {
    const { line, text, length } = mail as { line: number; text: string; length: number }
    number++
    const place = { path: file.path, line, at: isMbox ? `mail ${number}` : null }
    if (length > MAX_RECORD_BYTES) {
      findings.problem(place, `the mail is larger than ${MAX_RECORD_BYTES} bytes; the rest of it was not read`)
    }
    return { bytes: Buffer.from(text, 'latin1'), place }
  }
  for await (const { number: line, text, dropped } of linesOf(latin1(file), MAX_RECORD_BYTES)) {
    read += text.length + dropped + 1
    if (read > MAX_HELD_BYTES) {
      findings.problem({ path: file.path, line }, `larger than ${MAX_HELD_BYTES} bytes: from here on it was not read`)
      break
    }
    const bare = line === 1 ? text.replace(MARK, '') : text
    const isSeparator = isAfterEmpty && SEPARATOR.test(bare)
    isMbox ??= isSeparator
    if (isSeparator && isMbox) {
      if (mail !== null) yield taken()
      mail = { line: line + 1, text: '', length: 0 }
    } else {
      mail ??= { line, text: '', length: 0 }
      // In an mbox file, a line of a mail's text that began with `From ` is written with `>` in front, which is removed here.
      const own = `${isMbox ? bare.replace(/^>(?=>*From )/, '') : bare}\n`
      mail.length += own.length + dropped
      if (mail.length <= MAX_RECORD_BYTES) mail.text += own
    }
    isAfterEmpty = bare === ''
  }
  if (mail !== null) yield taken()
}

/** Decodes a file with one character per byte, because each mail names its own character set. */
async function* latin1(file: ExportFile): AsyncIterable<string> {
  for await (const bytes of file.bytes()) yield Buffer.from(bytes).toString('latin1')
}

async function readOne(
  { bytes, place }: RawMail,
  zone: Zone | null,
  names: Map<string, string>,
  findings: Findings,
): Promise<ReadMail | null> {
  let mail: Email
  try {
    mail = await PostalMime.parse(bytes)
  } catch (error) {
    findings.problem(place, `not a mail: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
  const date = headerOf(mail, 'date')
  const moment = momentOf(date, zone)
  if (mail.headers.length === 0 || (mail.from === undefined && moment === null && mail.messageId === undefined)) {
    findings.problem(place, 'not a mail: it has neither a sender nor a date')
    return null
  }
  if (moment === null) findings.problem(place, 'its date is missing or not a time; it was stored without one')
  const { subject = '', from } = mail
  const attachments = mail.attachments.map(attachmentOf)
  const text = bodyOf(mail)
  if (text === '' && attachments.length === 0 && subject === '') {
    findings.leave('empty message')
    return null
  }
  // Where the sender of a mail is a group of addresses, its first member is taken as the sender.
  const address = (from?.address ?? from?.group?.[0]?.address ?? '').toLowerCase()
  const name = from?.name ?? ''
  if (address !== '' && name !== '' && !names.has(address)) names.set(address, name)
  const id = idsIn(mail.messageId)[0] ?? derivedId(date, address, subject, text)
  const [above] = idsIn(mail.inReplyTo)
  const references = idsIn(mail.references)
  return {
    id,
    first: [...references, above].find(one => one !== undefined && one !== id) ?? null,
    thread: headerOf(mail, 'x-gm-thrid') || null,
    subject,
    draft: {
      id,
      speaker: address === '' ? name : address,
      role: null,
      moment,
      replyTo: above ?? references.at(-1) ?? null,
      text: text === '' && attachments.length === 0 ? subject : text,
      attachments,
      place,
    },
  }
}

/**
 * The id of the first mail of a mail's thread. Follows references upwards through the mails that exist; the topmost one may refer to a
 * first mail that is missing, whose id is used all the same. `firsts`: results of earlier calls.
 */
function firstOf(mail: ReadMail, mails: ReadonlyMap<string, ReadMail>, firsts: Map<string, string>): string {
  const path = new Set<string>()
  let at = mail.id
  while (!path.has(at) && !firsts.has(at)) {
    path.add(at)
    at = mails.get(at)?.first ?? at
  }
  // Mails that refer to each other in a cycle have no first one; the alphabetically first id is used.
  const isCircle = path.has(at) && typeof mails.get(at)?.first === 'string'
  const first = firsts.get(at) ?? (isCircle ? ([...path].sort()[0] as string) : at)
  for (const id of path) firsts.set(id, first)
  return first
}

function conversationOf(
  id: string,
  thread: readonly ReadMail[],
  names: ReadonlyMap<string, string>,
): ConversationDraft {
  const timeOf = ({ draft }: ReadMail): number => draft.moment?.at ?? Number.POSITIVE_INFINITY
  const first = thread.reduce((best, mail) => (timeOf(mail) < timeOf(best) ? mail : best))
  const title = first.subject.replace(/^(?:\s*(?:re|fwd?|rv|aw|wg)\s*(?:\[\d+\])?:\s*)+/i, '')
  const messages = thread.map(({ draft }) => ({
    ...draft,
    // All mails of a thread are one session, since answers may take days.
    session: id,
    speaker: names.get(draft.speaker) ?? draft.speaker,
  }))
  return { id, title, messages, isOrdered: false }
}

/** The message ids in a mail header, without angle brackets, in order. Some programs omit the brackets, others add further words. */
function idsIn(text = ''): readonly string[] {
  const bracketed = [...text.matchAll(/<([^<>\s]+)>/g)].map(match => match[1] as string)
  return bracketed.length > 0 ? bracketed : text.split(/[\s,]+/).filter(word => word.includes('@'))
}

function headerOf(mail: Email, name: string): string {
  return mail.headers.find(({ key }) => key === name)?.value.trim() ?? ''
}

/** Pattern for a time zone at the end of a date: an offset, or a name such as `GMT`; `PM` is no time zone. */
const ZONED = /(?:(?::\d\d|\s)[+-]\d\d:?\d\d|(?![\s\d][ap]m$)[\s\d][a-z]{1,4})$/i

/** Time in a mail's date (RFC 5322, 3.3). `-0000` gives the time in UTC without the writer's zone. */
function momentOf(date: string, zone: Zone | null): Moment | null {
  const plain = date.replace(/\([^()]*\)/g, '').trim()
  // Rejected here because `Date.parse` reads a date into any words that end with a number, and takes a time without a zone as local to this
  // machine.
  if (!/\d:\d\d|\b\d{4}\b/.test(plain)) return null
  const isZoned = ZONED.test(plain)
  const at = Date.parse(isZoned ? plain : `${plain.replace(/(\d)T(\d)/, '$1 $2')} UTC`)
  if (Number.isNaN(at)) return null
  if (!isZoned) return momentIn(at, zone)
  const written = /[+-]\d{4}$/.exec(plain)?.[0]
  const offset = written === undefined || written === '-0000' ? null : offsetOf(written)
  return { at, zone: offset ?? offsetAt(zone, at) }
}

function attachmentOf({ mimeType, description, filename }: Email['attachments'][number]): Attachment {
  return { kind: kindOfType(mimeType), caption: description ?? null, name: filename }
}

function bodyOf({ text = '', html }: Email): string {
  if (text.trim() !== '') return ownText(text)
  if (html === undefined) return ''
  const own = htmlText(html, { isLeftOut: isQuoted }).text
  return ownText(own === '' ? htmlText(html).text : own)
}

/** Whether an HTML element is a quotation, by the marks that mail programs use. */
function isQuoted({ tag, attribute }: HtmlElement): boolean {
  if (tag === 'blockquote') return attribute('type') === 'cite' || /\bgmail_quote\b/.test(attribute('class'))
  const quotes = /\b(?:gmail_quote|gmail_signature|gmail_attr|moz-cite-prefix|moz-signature|yahoo_quoted)\b/
  return quotes.test(attribute('class')) || /^(?:divRplyFwdMsg|appendonsend|Signature)$/.test(attribute('id'))
}

/**
 * Pattern of the line `-- ` that separates a signature (RFC 3676, 4.3). A separator without the trailing blank matches only
 * `BARE_SIGNATURE`, which counts when at most 10 lines follow it.
 */
const SIGNATURE = /^-- $/
const BARE_SIGNATURE = /^--\s*$/
const MAX_SIGNATURE_LINES = 10
const TELEPHONE =
  /^(?:sent from my |get outlook for |sent with |enviado desde (?:mi |el )|obtener outlook para |obtén outlook para ).{1,60}$/i
/** Pattern of the line that introduces a quotation ("On 14 March 2025, Mira wrote:"), which mail programs may wrap over several lines. */
const ATTRIBUTION = /^(?:On|El) .{4,300}(?:wrote|escribió)\s*:$/s
const MAX_ATTRIBUTION_LINES = 4
const ORIGINAL = /^-{2,}\s*(?:Original Message|Original Appointment|Mensaje original)\s*-{2,}$/i
const FORWARDED =
  /^(?:-{2,}\s*(?:Forwarded message|Mensaje reenviado)\s*-{2,}|Begin forwarded message:|Inicio del mensaje reenviado:)$/i
/** First header line (`From:`) of the quoted mail, as Outlook copies it into an answer below a line of underscores. */
const COPIED_FROM = /^\*?(?:From|De):\*?\s/i
const COPIED_SENT = /^\*?(?:Sent|Date|Enviado(?: el)?|Fecha):\*?\s/i
const RULE = /^_{5,}$/

/**
 * The text that the writer of a mail wrote, without quotations and signature. Where nothing else remains, the whole text, because a mail
 * may be forwarded without an added word.
 */
function ownText(body: string): string {
  const plain = body.replace(/\r\n?/g, '\n')
  const own = withoutSignature(withoutQuotes(plain.split('\n')))
  const text = withoutLast(own, TELEPHONE)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return text === '' ? plain.trim() : text
}

function withoutQuotes(lines: readonly string[]): readonly string[] {
  const own: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const bare = line.trim()
    if (FORWARDED.test(bare)) return [...own, ...lines.slice(at)]
    if (ORIGINAL.test(bare) || isCopiedHead(lines, at)) return withoutLast(own, RULE)
    const length = attributionLength(lines, at)
    if (length > 0) {
      const next = lines.slice(at + length).find(one => one.trim() !== '')
      if (!next?.trimStart().startsWith('>')) return own
      at += length - 1
    } else if (!/^\s?>/.test(line)) own.push(line)
  }
  return own
}

/** Number of lines of the introduction of a quotation ("On …, Mira wrote:") that begins at line `at`; 0: none begins there. */
function attributionLength(lines: readonly string[], at: number): number {
  let text = ''
  for (let length = 1; length <= MAX_ATTRIBUTION_LINES && at + length <= lines.length; length++) {
    text = `${text} ${(lines[at + length - 1] as string).trim()}`.trimStart()
    if (!/^(?:On|El) /.test(text)) return 0
    if (ATTRIBUTION.test(text)) return /\d/.test(text) ? length : 0
    if (lines[at + length]?.trim() === '') return 0
  }
  return 0
}

function isCopiedHead(lines: readonly string[], at: number): boolean {
  if (!COPIED_FROM.test((lines[at] as string).trim())) return false
  const before = lines[at - 1]?.trim() ?? ''
  if (before !== '' && !RULE.test(before)) return false
  return lines.slice(at + 1, at + 4).some(line => COPIED_SENT.test(line.trim()))
}

/**
 * The lines without the last one that is not blank (and without the blank lines after it), if that line matches the pattern `shape`;
 * otherwise all lines.
 */
function withoutLast(lines: readonly string[], shape: RegExp): readonly string[] {
  const end = lines.findLastIndex(line => line.trim() !== '')
  return end >= 0 && shape.test((lines[end] as string).trim()) ? lines.slice(0, end) : lines
}

function withoutSignature(lines: readonly string[]): readonly string[] {
  const sure = lines.findIndex(line => SIGNATURE.test(line))
  if (sure >= 0) return lines.slice(0, sure)
  const bare = lines.findLastIndex(line => BARE_SIGNATURE.test(line))
  return bare >= 0 && lines.length - bare - 1 <= MAX_SIGNATURE_LINES ? lines.slice(0, bare) : lines
}
