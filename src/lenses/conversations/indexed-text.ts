/**
 * What a message is found by: who says it and when, as its title; the question it answers and the dates it speaks of, in
 * the headings of its chunks, which are indexed and embedded and are no part of what is shown.
 */
import type { ChunkDraft } from '../../model/entry.ts'
import type { Row } from '../../model/table.ts'
import { chunk } from '../../text/chunk.ts'
import { LineCounter, linesOfSpan } from '../../text/lines.ts'
import type { Attachment, Message, Profile } from './model.ts'
import { dayOf, dayText } from './reading/dates.ts'
import { datesIn } from './tables.ts'

/** Characters at the end of a message among which a question mark makes it a question. */
const QUESTION_END = 40
/** Characters of a question in front of its answer: what is longer keeps its end. */
const MAX_QUESTION = 400
/** Words of a chunk of an assistant's chat. */
const CHUNK_WORDS = 120

export interface Said {
  readonly speaker: string
  readonly body: string
}

export interface Unit extends Said, Pick<Message, 'at' | 'zone'> {
  readonly profile: Profile
  /** The message before it in the same session. */
  readonly before: Said | null
  readonly dates: readonly string[]
}

/** Of a message as it is stored: its row, and the content of its entry. */
export function unitOf(row: Row, body: string, before: Said | null): Unit {
  return {
    ...{ speaker: row['speaker'] as string, body, profile: row['profile'] as Profile, before },
    ...{ at: row['at'] as number | null, zone: row['zone'] as number | null, dates: datesIn(row) },
  }
}

/** What is stored as the content: the text, and in brackets what came with it. */
export function bodyOf({ text, attachments }: Pick<Message, 'text' | 'attachments'>): string {
  return nonEmpty(text, ...attachments.map(attachmentText)).join(' ')
}

function attachmentText({ kind, caption, name }: Attachment): string {
  const label = nonEmpty(kind === 'image' ? 'photo' : kind, name ?? '').join(' ')
  return `[${caption === null ? label : `${label}: ${caption}`}]`
}

/** `Mira, 14 March 2025`. A date in front of an assistant's answer hides more than it finds. */
export function titleOf(unit: Pick<Unit, 'profile' | 'speaker' | 'at' | 'zone'>): string {
  return nonEmpty(unit.speaker, unit.profile === 'assistant' ? '' : dateOf(unit)).join(', ')
}

/** Headings: `Tom: Did you find a place?`, `(weekend of 8 March 2025)`. */
export function chunksOf(unit: Unit): readonly ChunkDraft[] {
  if (unit.profile === 'assistant') return pieces(unit.body)
  const headings = nonEmpty(questionBefore(unit), unit.dates.length === 0 ? '' : `(${unit.dates.join('; ')})`)
  return chunk(unit.body).map(draft => ({ ...draft, headings }))
}

/**
 * What a message of people is ranked by beside what was said: `14 March 2025`, `Tom: Did you find a place?`, and
 * `weekend of 8 March 2025`.
 */
export function surroundingText(unit: Unit): string {
  return nonEmpty(dateOf(unit), questionBefore(unit), ...unit.dates).join('\n')
}

/** `Mira: Yes, the barn.` */
export function spokenText({ speaker, body }: Said): string {
  return speaker === '' ? body : `${speaker}: ${body}`
}

function dateOf({ at, zone }: Pick<Unit, 'at' | 'zone'>): string {
  return at === null ? '' : dayText(dayOf(at, zone))
}

/** Empty where no question came before. */
function questionBefore({ before }: Pick<Unit, 'before'>): string {
  if (before === null || !/[?？؟]/u.test(before.body.slice(-QUESTION_END))) return ''
  return spokenText({ ...before, body: before.body.slice(-MAX_QUESTION) }).toWellFormed()
}

function nonEmpty(...texts: readonly string[]): readonly string[] {
  return texts.filter(text => text !== '')
}

/** Of an assistant's chat. Cut between paragraphs and sentences where one is near; in order, not overlapping. */
export function pieces(body: string): readonly ChunkDraft[] {
  const words = [...body.matchAll(/[^\s]+(?:\s+|$)/g)].map(({ index, 0: word }) => ({ end: index + word.length, word }))
  const lines = new LineCounter(body)
  const drafts: ChunkDraft[] = []
  let start = 0
  for (let first = 0; first < words.length; ) {
    const last = lastWord(words, first)
    const end = last === words.length - 1 ? body.length : (words[last]?.end as number)
    drafts.push({ start, end, ...linesOfSpan(lines, body, start, end), headings: [] })
    start = end
    first = last + 1
  }
  return drafts.length > 0 ? drafts : chunk(body)
}

/** The last word of the piece that begins with `first`: one that ends a paragraph or a sentence in its second half. */
function lastWord(words: readonly { readonly word: string }[], first: number): number {
  const max = Math.min(words.length, first + CHUNK_WORDS) - 1
  if (max === words.length - 1) return max
  for (const border of [/\n\s*\n/, /[.!?…]["')\]]*\s$|\n/]) {
    for (let at = max; at > first + CHUNK_WORDS / 2; at--) {
      if (border.test(words[at]?.word ?? '')) return at
    }
  }
  return max
}
