/** The export of a chat of WhatsApp: a text file. */
import type { MessageDraft } from './draft.ts'
import { type ExportFile, folderOf, MAX_HELD_BYTES, withoutExtension } from './export-file.ts'
import type { Findings } from './findings.ts'
import { momentIn } from './instants.ts'
import { linesOf } from './lines.ts'
import type { Reader, ReaderOptions } from './reader.ts'
import { textPieces } from './text-pieces.ts'
import { type DateOrder, decideOrder, localOf } from './whatsapp-dates.ts'
import { type FirstLine, firstLineOf, type LineShape } from './whatsapp-lines.ts'
import { chatNameIn, isEventLine, isEventText, saidIn } from './whatsapp-words.ts'

interface RawMessage {
  readonly first: FirstLine
  readonly line: number
  readonly more: string[]
}

export const readWhatsapp: Reader = async function* (files, options, findings) {
  for (const file of files) {
    const raw = await rawMessages(file, findings)
    const title = nameOfChat(file, raw, files.length === 1 ? options.conversation : null, findings)
    const order = orderOf(file, raw, options, findings)
    const messages = raw.flatMap(one => draftOf(one, file.path, order, options, findings) ?? [])
    yield { id: options.conversation === title ? title : `whatsapp:${title}`, title, messages, isOrdered: true }
  }
}

/** In the order of the file: messages without a date in front continue the one above. */
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

/** In the order that the export is in, since its times are to the minute and clocks are set back. */
function draftOf(
  { first, line, more }: RawMessage,
  path: string,
  order: DateOrder,
  options: ReaderOptions,
  findings: Findings,
): MessageDraft | null {
  const place = { path, line }
  const named = isEventLine(first.rest) ? null : /^(.{1,100}?):(?:\s|$)/.exec(first.rest)
  const raw = named === null ? '' : [first.rest.slice(named[0].length), ...more].join('\n').trimEnd()
  const { text, attachments, isEdited, isDeleted } = saidIn(raw)
  if (named === null || (attachments.length === 0 && !isDeleted && isEventText(raw))) {
    findings.leave('line of WhatsApp itself')
    return null
  }
  if (text.trim() === '' && attachments.length === 0 && !isDeleted) {
    findings.leave('empty message')
    return null
  }
  const local = localOf(first.time, order)
  if (local === null) findings.problem(place, `there is no time ${first.written}; it was taken without one`)
  const moment = local === null ? null : momentIn(local, options.zone)
  return {
    id: null,
    // People who are no contacts have a tilde in front.
    speaker: (named[1] as string).replace(/^[\u200e\u200f]*~\s*/, ''),
    role: null,
    at: moment?.at ?? null,
    zone: moment?.zone ?? null,
    written: first.written,
    text,
    attachments,
    ...(isEdited && { edited: { at: null } }),
    deleted: isDeleted,
    place,
  }
}

function orderOf(file: ExportFile, raw: readonly RawMessage[], options: ReaderOptions, findings: Findings): DateOrder {
  if (options.dateOrder !== null) return options.dateOrder
  const arePadded = raw.every(({ first }) => first.isPadded)
  const { order, doubt } = decideOrder(
    raw.map(({ first }) => first.time),
    arePadded,
  )
  if (doubt !== null) findings.problem({ path: file.path }, `${doubt}; say which it is with a date order`)
  return order
}

/** Every export is named after the chat: the file on Android, the folder on iOS, where the file is always `_chat.txt`. */
function nameOfChat(file: ExportFile, raw: readonly RawMessage[], given: string | null, findings: Findings): string {
  if (given !== null) return given
  const name = withoutExtension(file.path)
  const told = chatNameIn(name) ?? chatNameIn(folderOf(file.path))
  if (told !== null) return told
  if (!/^_?chat$/i.test(name)) return name
  // On iOS the first line is said by the group, or by the person that the chat is with.
  const first = raw[0]?.first.rest ?? ''
  const speaker = /^(.{1,100}?):\s/.exec(first)
  if (speaker !== null && isEventText(first.slice(speaker[0].length))) return speaker[1] as string
  findings.problem({ path: file.path }, `nothing names this chat; it was named ${name}: say its name`)
  return name
}
