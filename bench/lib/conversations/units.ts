/** What is indexed of a conversation: one text a message, chunks of long ones, and blocks of neighbours. */
import type { Conversation, Message } from '../../../src/lenses/conversations/model.ts'
import { type Day, dayOf, dayText, resolvedDates } from '../../../src/lenses/conversations/reading/dates.ts'

/** What the text of a message is put together from, besides what it says. */
export interface UnitParts {
  readonly date: boolean
  /** The message before it in its session, when that one asks something. */
  readonly previous: boolean
  readonly speaker: boolean
  readonly resolved: boolean
}

/** A question mark among so many last characters makes a message one that asks. */
const ASKING_END = 40
const CHUNK_WORDS = 120
const BLOCK = 8
const STRIDE = 4

export function bodyOf({ text, attachments }: Message): string {
  const captions = attachments.flatMap(({ caption }) => (caption === null ? [] : [` [photo: ${caption}]`]))
  return text + captions.join('')
}

/** One text a message, in order. Dates are written in English, whatever the conversation is in. */
export function unitsOf(conversation: Conversation, parts: UnitParts): readonly string[] {
  const { messages } = conversation
  const dates = resolvedDates(conversation)
  const days = daysOf(messages)
  return messages.map((message, at) => {
    const before = messages[at - 1]
    const day = days.get(message.session)
    return [
      parts.date && day !== undefined ? `(${dayText(day)}) ` : '',
      parts.previous && before !== undefined && before.session === message.session && asks(before)
        ? `${said(before)}\n`
        : '',
      parts.speaker ? said(message) : bodyOf(message),
      parts.resolved ? resolvedPart(dates[at] ?? []) : '',
    ].join('')
  })
}

/** Of each session, where a message of it has a time. */
function daysOf(messages: readonly Message[]): ReadonlyMap<string, Day> {
  const days = new Map<string, Day>()
  for (const { session, at, zone } of messages) {
    if (at !== null && !days.has(session)) days.set(session, dayOf(at, zone))
  }
  return days
}

function asks(message: Message): boolean {
  return bodyOf(message).slice(-ASKING_END).includes('?')
}

function said(message: Message): string {
  return `${message.speaker}: ${bodyOf(message)}`
}

function resolvedPart(dates: readonly string[]): string {
  return dates.length === 0 ? '' : ` (${dates.join('; ')})`
}

/** About 120 words each, cut at the ends of paragraphs and sentences; never empty. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = []
  let chunk = ''
  for (const sentence of text.split(/(?<=\n)(?!\n)|(?<=[.!?…]["”»)]?\s)/)) {
    if (chunk !== '' && wordsIn(chunk) + wordsIn(sentence) > CHUNK_WORDS) {
      chunks.push(chunk)
      chunk = ''
    }
    chunk += sentence
  }
  return chunk === '' && chunks.length > 0 ? chunks : [...chunks, chunk]
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter(word => word !== '').length
}

export interface Block {
  /** Places of the first message and of the one after the last. */
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Eight messages of one session, each block beginning four later. */
export function blocksOf({ messages }: Pick<Conversation, 'messages'>): readonly Block[] {
  const blocks: Block[] = []
  for (let first = 0; first < messages.length; ) {
    let last = first
    while (messages[last]?.session === messages[first]?.session) last++
    for (let start = first; ; start += STRIDE) {
      const end = Math.min(start + BLOCK, last)
      blocks.push({ start, end, text: messages.slice(start, end).map(said).join('\n') })
      if (end === last) break
    }
    first = last
  }
  return blocks
}
