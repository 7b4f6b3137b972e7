/** Mail threads, from mbox and EML files: what answers what is said by the mails themselves. */
import PostalMime, { type Address, type Email } from 'postal-mime'
import { type HtmlElement, htmlText } from '../../../text/html-text.ts'
import type { Attachment } from '../model.ts'
import { type ConversationDraft, derivedId, type MessageDraft } from './draft.ts'
import type { Findings } from './findings.ts'
import { type Moment, momentIn } from './instants.ts'
import { ownText } from './mail-body.ts'
import { mailsOf, type RawMail } from './mbox.ts'
import type { Reader } from './reader.ts'
import { offsetAt, offsetOf, type Zone } from './zones.ts'

interface ReadMail {
  readonly id: string
  /** Ids of the mails above it in its thread, the first mail first. */
  readonly above: readonly string[]
  /** As Gmail says it. */
  readonly thread: string | null
  readonly subject: string
  readonly draft: MessageDraft
}

export const readMail: Reader = async function* (files, options, findings) {
  const mails = new Map<string, ReadMail>()
  const names = new Map<string, string>()
  for (const file of files) {
    for await (const raw of mailsOf(file, findings)) {
      const mail = await readOne(raw, options.zone, names, findings)
      if (mail === null) continue
      // The same mail lies in several folders: as it was sent, as it came, under every label.
      const before = mails.get(mail.id)
      if (before === undefined) mails.set(mail.id, mail)
      else if (before.draft.text === mail.draft.text) findings.leave('copy of a mail')
      else findings.problem(raw.place, `the mail id ${mail.id} was there before, with another text; it was left out`)
    }
  }
  for (const [id, thread] of threadsOf(mails)) yield conversationOf(id, thread, names)
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
    findings.problem(place, `no mail: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
  const attachments = mail.attachments.map(attachmentOf)
  const text = bodyOf(mail)
  const moment = momentOf(headerOf(mail, 'date'), zone)
  if (mail.headers.length === 0 || (mail.from === undefined && moment === null && mail.messageId === undefined)) {
    findings.problem(place, 'no mail: it has neither a sender nor a date')
    return null
  }
  if (moment === null) findings.problem(place, 'its date is missing or no time; it was taken without one')
  const address = addressOf(mail.from)
  const name = mail.from?.name ?? ''
  if (address !== '' && name !== '' && !names.has(address)) names.set(address, name)
  const subject = mail.subject ?? ''
  const own = idsIn(mail.messageId ?? '')[0]
  const id = own ?? derivedId(headerOf(mail, 'date'), address, subject, text)
  if (text === '' && attachments.length === 0 && subject === '') {
    findings.leave('empty message')
    return null
  }
  return {
    id,
    above: aboveOf(mail).filter(one => one !== id),
    thread: headerOf(mail, 'x-gm-thrid') || null,
    subject,
    draft: {
      id,
      speaker: address === '' ? name : address,
      role: null,
      at: moment?.at ?? null,
      zone: moment?.zone ?? null,
      replyTo: idsIn(mail.inReplyTo ?? '')[0] ?? aboveOf(mail).at(-1) ?? null,
      text: text === '' && attachments.length === 0 ? subject : text,
      attachments,
      place,
    },
  }
}

/** A thread has the id of its first mail, also where that mail is missing. */
function threadsOf(mails: ReadonlyMap<string, ReadMail>): ReadonlyMap<string, readonly ReadMail[]> {
  const threads = new Map<string, ReadMail[]>()
  const firsts = new Map<string, string>()
  for (const mail of mails.values()) {
    const id = mail.thread ?? firstOf(mail, mails, firsts)
    const thread = threads.get(id)
    if (thread === undefined) threads.set(id, [mail])
    else thread.push(mail)
  }
  return threads
}

/** Up along the mails that are there, and what the topmost of them says was above it. `firsts`: found before. */
function firstOf(mail: ReadMail, mails: ReadonlyMap<string, ReadMail>, firsts: Map<string, string>): string {
  const way = new Set<string>()
  let at: string = mail.id
  // Mails that name each other as the one above stand in a circle: the first id in order of letters is as good as any.
  while (!way.has(at) && !firsts.has(at)) {
    way.add(at)
    at = mails.get(at)?.above[0] ?? at
  }
  const isCircle = way.has(at) && mails.get(at)?.above[0] !== undefined
  const first = firsts.get(at) ?? (isCircle ? ([...way].sort()[0] as string) : at)
  for (const id of way) firsts.set(id, first)
  return first
}

function conversationOf(
  id: string,
  thread: readonly ReadMail[],
  names: ReadonlyMap<string, string>,
): ConversationDraft {
  const first = thread.reduce((best, mail) => ((mail.draft.at ?? Infinity) < (best.draft.at ?? Infinity) ? mail : best))
  const title = first.subject.replace(/^(?:\s*(?:re|fwd?|rv|aw|wg)\s*(?:\[\d+\])?:\s*)+/i, '')
  const messages = thread.map(({ draft }) => ({
    ...draft,
    // Answers take days: a thread is one sitting.
    session: id,
    speaker: names.get(draft.speaker) ?? draft.speaker,
  }))
  return { id, title, messages, isOrdered: false }
}

function aboveOf(mail: Email): readonly string[] {
  const above = idsIn(mail.references ?? '')
  return above.length > 0 ? above : idsIn(mail.inReplyTo ?? '').slice(0, 1)
}

/** Ids without their brackets, in order. Some programs forget the brackets, others add words. */
function idsIn(text: string): readonly string[] {
  const bracketed = [...text.matchAll(/<([^<>\s]+)>/g)].map(match => match[1] as string)
  if (bracketed.length > 0) return bracketed
  return text.split(/[\s,]+/).filter(word => word.includes('@'))
}

function headerOf(mail: Email, name: string): string {
  return mail.headers.find(({ key }) => key === name)?.value.trim() ?? ''
}

/** Of a group the first member. */
function addressOf(from: Address | undefined): string {
  const one = from?.address ?? from?.group?.[0]?.address ?? ''
  return one.toLowerCase()
}

/** An offset or a name such as `GMT` at the end; `PM` is none. */
const ZONED = /(?:(?::\d\d|\s)[+-]\d\d:?\d\d|(?![\s\d][ap]m$)[\s\d][a-z]{1,4})$/i

/** RFC 5322, 3.3. `-0000` is a time in UTC of somebody somewhere. */
function momentOf(date: string, zone: Zone | null): Moment | null {
  const plain = date.replace(/\([^()]*\)/g, '').trim()
  // `Date.parse` finds a date in any words that end with a number, and takes what names no zone for one of this machine.
  if (!/\d:\d\d|\b\d{4}\b/.test(plain)) return null
  const isZoned = ZONED.test(plain)
  const at = Date.parse(isZoned ? plain : `${plain.replace(/(\d)T(\d)/, '$1 $2')} UTC`)
  if (Number.isNaN(at)) return null
  if (!isZoned) return momentIn(at, zone)
  const written = /[+-]\d{4}$/.exec(plain)?.[0]
  const offset = written === undefined || written === '-0000' ? null : offsetOf(written)
  return { at, zone: offset ?? (zone === null ? null : offsetAt(zone, at)) }
}

function bodyOf(mail: Email): string {
  const plain = mail.text?.trim() ?? ''
  if (plain !== '') return ownText(mail.text as string)
  if (mail.html === undefined) return ''
  const own = htmlText(mail.html, { isLeftOut: isQuoted }).text
  return ownText(own === '' ? htmlText(mail.html).text : own)
}

/** How programs mark in HTML what is quoted. */
function isQuoted({ tag, attribute }: HtmlElement): boolean {
  if (tag === 'blockquote') return attribute('type') === 'cite' || /\bgmail_quote\b/.test(attribute('class'))
  const quotes = /\b(?:gmail_quote|gmail_signature|gmail_attr|moz-cite-prefix|moz-signature|yahoo_quoted)\b/
  return quotes.test(attribute('class')) || /^(?:divRplyFwdMsg|appendonsend|Signature)$/.test(attribute('id'))
}

function attachmentOf(attachment: Email['attachments'][number]): Attachment {
  const kind = ['image', 'audio', 'video'].find(one => attachment.mimeType.startsWith(`${one}/`)) ?? 'document'
  return { kind, caption: attachment.description ?? null, name: attachment.filename }
}
