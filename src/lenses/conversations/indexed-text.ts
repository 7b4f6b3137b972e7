/**
 * What a message is found by: who says it and when, as its title; the question it answers and the dates it speaks of, in
 * the headings of its chunks, which are indexed and embedded and are no part of what is shown.
 */
import type { ChunkDraft } from '../../model/entry.ts'
import { chunk } from '../../text/chunk.ts'
import { LineCounter, linesOfSpan } from '../../text/lines.ts'
import type { Attachment, Message, Profile } from './model.ts'
import { dayOf } from './reading/dates.ts'
import { dayText as dateText } from './reading/dates-in-text.ts'

/** Characters at the end of a message among which a question mark makes it a question. */
const ASKING_END = 40
/** Of a question in front of its answer: what is longer keeps its end. */
const MOST_ASKED = 400
/** Words of a chunk of an assistant's chat. */
const CHUNK_WORDS = 120

/** What is stored as the content: the text, and in brackets what came with it. */
export function bodyOf({ text, attachments }: Pick<Message, 'text' | 'attachments'>): string {
  return [text, ...attachments.map(attached)].filter(part => part !== '').join(' ')
}

function attached({ kind, caption, name }: Attachment): string {
  const label = [kind === 'image' ? 'photo' : kind, name].filter(part => part !== null).join(' ')
  return `[${caption === null ? label : `${label}: ${caption}`}]`
}

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

export function chunksOf(unit: Unit): readonly ChunkDraft[] {
  return unit.profile === 'people' ? whole(unit) : pieces(unit.body)
}

/**
 * What a message of people is ranked by beside what was said: `14 March 2025`, `Tom: Did you find a place?`, and
 * `weekend of 8 March 2025`.
 */
export function surroundingText(unit: Unit): string {
  return [dayText(unit), askedText(unit), ...unit.dates].filter(part => part !== '').join('\n')
}

/** `Mira: Yes, the barn.` */
export function spokenText({ speaker, body }: Said): string {
  return `${named(speaker)}${body}`
}

function whole(unit: Unit): readonly ChunkDraft[] {
  const headings = headingsOf(unit)
  return chunk(unit.body).map(draft => ({ ...draft, headings }))
}

/** `Mira, 14 March 2025`. A date in front of an assistant's answer hides more than it finds. */
export function titleOf({ profile, speaker, at, zone }: Pick<Unit, 'profile' | 'speaker' | 'at' | 'zone'>): string {
  const written = profile === 'assistant' ? '' : dayText({ at, zone })
  return [speaker, written].filter(part => part !== '').join(', ')
}

function dayText({ at, zone }: Pick<Unit, 'at' | 'zone'>): string {
  return at === null ? '' : dateText(dayOf(at, zone))
}

/** `Tom: Did you find a place?`, `(weekend of 8 March 2025)`. */
function headingsOf(unit: Unit): readonly string[] {
  const { dates } = unit
  const resolved = dates.length === 0 ? '' : `(${dates.join('; ')})`
  return [askedText(unit), resolved].filter(line => line !== '')
}

/** The question before it; empty where none was asked. */
function askedText({ before }: Pick<Unit, 'before'>): string {
  if (before === null || !isAsking(before.body)) return ''
  return `${named(before.speaker)}${before.body.slice(-MOST_ASKED)}`.toWellFormed()
}

function isAsking(body: string): boolean {
  return /[?？؟]/u.test(body.slice(-ASKING_END))
}

function named(speaker: string): string {
  return speaker === '' ? '' : `${speaker}: `
}

/** Of an assistant's chat. Cut between paragraphs and sentences where one is near; in order, not overlapping. */
export function pieces(body: string): readonly ChunkDraft[] {
  const ends = [...body.matchAll(/[^\s]+(?:\s+|$)/g)].map(({ index, 0: word }) => ({ end: index + word.length, word }))
  const lines = new LineCounter(body)
  const drafts: ChunkDraft[] = []
  let start = 0
  let first = 0
  while (first < ends.length) {
    const last = lastWord(ends, first)
    const end = last === ends.length - 1 ? body.length : (ends[last]?.end ?? body.length)
    drafts.push({ start, end, ...linesOfSpan(lines, body, start, end), headings: [] })
    start = end
    first = last + 1
  }
  return drafts.length > 0 ? drafts : chunk(body)
}

/** The last word of the piece that begins with `first`: one that ends a paragraph or a sentence in its second half. */
function lastWord(words: readonly { readonly word: string }[], first: number): number {
  const most = Math.min(words.length, first + CHUNK_WORDS) - 1
  if (most === words.length - 1) return most
  for (const border of [/\n\s*\n/, /[.!?…]["')\]]*\s$|\n/]) {
    for (let at = most; at > first + CHUNK_WORDS / 2; at--) {
      if (border.test(words[at]?.word ?? '')) return at
    }
  }
  return most
}
