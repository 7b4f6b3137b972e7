/** Reads e-mail files: subject, sender, recipients, date and text. Attachments are named, but their contents are not read. */
import PostalMime, { type Address } from 'postal-mime'
import { storableText } from '../../base/storable.ts'
import { htmlText } from '../../text/html-text.ts'
import { type DocumentReader, unreadable } from './document.ts'
import { FlowWriter } from './flow-writer.ts'

const MAX_NESTING = 50
const MAX_HEADERS = 1024 * 1024

export const readEml: DocumentReader = async bytes => {
  const mail = await PostalMime.parse(bytes, { maxNestingDepth: MAX_NESTING, maxHeadersSize: MAX_HEADERS })
  const { subject = '', date, from, to = [], cc = [] } = mail
  if (from === undefined && date === undefined && mail.messageId === undefined) {
    throw unreadable('not a mail: it has neither a sender nor a date')
  }
  const writer = new FlowWriter()
  const at = date === undefined ? Number.NaN : Date.parse(date)
  const head = {
    From: from === undefined ? '' : nameOf(from),
    To: [...to, ...cc].map(nameOf).join(', '),
    Date: Number.isNaN(at) ? '' : new Date(at).toISOString().slice(0, 16).replace('T', ' '),
    Attachments: mail.attachments
      .map(({ filename }) => filename ?? '')
      .filter(Boolean)
      .join(', '),
  }
  writer.text(subject)
  writer.endParagraph({ level: 1 })
  const known = Object.entries(head).filter(([, value]) => value !== '')
  writer.text(storableText(known.map(([name, value]) => `${name}: ${value}`).join('\n')))
  writer.endParagraph()
  const { text = '', html = '' } = mail
  const body = text.trim() === '' ? htmlText(html).text : text
  for (const paragraph of storableText(body)
    .replace(/\r\n?/g, '\n')
    .split(/\n{2,}/)) {
    writer.text(paragraph)
    writer.endParagraph()
  }
  const { From, To } = head
  const metadata = { ...(From !== '' && { from: storableText(From) }), ...(To !== '' && { to: storableText(To) }) }
  return { ...writer.finish(), title: subject, metadata, createdAt: Number.isNaN(at) ? null : at }
}

function nameOf({ name, address = '' }: Address): string {
  return name === '' || name === address ? address : `${name} <${address}>`
}
