/**
 * Reader of BEAM (mohammadtavakoli78/BEAM): a folder of chats, each with `chat.json` and
 * `probing_questions/probing_questions.json`, or one file of rows (`conversation_id`, `chat`, `probing_questions`) as JSON
 * or JSON Lines. Messages stand in batches of turns; how deep the lists go differs. What is broken is told with its place.
 */
import { isRecord } from '../../../src/base/record.ts'
import { Problems, parsed } from './problems.ts'
import { type MessageRecord, type Question, type QuestionSet, readRecords, UNANSWERABLE } from './question-set.ts'

const CATEGORIES: Readonly<Record<string, string>> = {
  abstention: UNANSWERABLE,
  contradiction_resolution: 'contradiction',
  event_ordering: 'event-order',
  information_extraction: 'extraction',
  instruction_following: 'instruction',
  knowledge_update: 'knowledge-update',
  multi_session_reasoning: 'multi-session',
  preference_following: 'preference',
  summarization: 'summary',
  temporal_reasoning: 'temporal',
}

/** One chat with its questions, still as they were written. */
export interface BeamChat {
  readonly id: string
  readonly chat: unknown
  readonly questions: unknown
}

/** The rows of one file, JSON or JSON Lines. */
export function beamRows(
  text: string,
  file: string,
): { readonly chats: readonly BeamChat[]; readonly problems: readonly string[] } {
  const problems = new Problems(file)
  const chats: BeamChat[] = []
  const take = (row: unknown, at: string) => {
    if (!isRecord(row)) problems.add(at, 'expected an object with conversation_id, chat and probing_questions')
    else chats.push({ id: idOf(row, at), chat: row['chat'], questions: row['probing_questions'] })
  }
  const whole = parsed(text)
  if ('value' in whole) {
    const rows = Array.isArray(whole.value) ? whole.value : [whole.value]
    for (const [at, row] of rows.entries()) take(row, `[${at}]`)
    return { chats, problems: problems.found }
  }
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const row = parsed(line)
    if ('value' in row) take(row.value, `line ${at + 1}`)
    else problems.add(`line ${at + 1}`, row.why)
  }
  return { chats, problems: problems.found }
}

function idOf(row: Readonly<Record<string, unknown>>, at: string): string {
  const id = row['conversation_id']
  return typeof id === 'string' || typeof id === 'number' ? String(id) : at
}

export async function readBeam(chats: readonly BeamChat[], file: string): Promise<QuestionSet> {
  const problems = new Problems(file)
  const records: MessageRecord[] = []
  const questions: Question[] = []
  for (const { id, chat, questions: asked } of chats) {
    const messages = messagesOf(chat, id, problems)
    records.push(...messages.map(({ record }) => record))
    questions.push(...questionsOf(asked, id, messages, problems))
  }
  const { conversations, problems: unread } = await readRecords(file, records)
  for (const { line, message } of unread) problems.add(`message ${line ?? ''}`, message)
  const languages = new Map(conversations.map(one => [one.id, 'en' as const]))
  return { name: 'BEAM', conversations, questions, languages, problems: problems.found }
}

interface Numbered {
  readonly record: MessageRecord
  /** As the set numbers it; several messages may have one number. */
  readonly raw: number | null
}

interface Session {
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly anchor: unknown
}

function messagesOf(chat: unknown, conversation: string, problems: Problems): readonly Numbered[] {
  if (!Array.isArray(chat)) {
    problems.add(`${conversation}.chat`, 'expected a list of batches')
    return []
  }
  const counts = new Map<string, number>()
  return chat.flatMap((batch: unknown, at): Numbered[] => {
    const { messages, anchor } = sessionOf(batch)
    const day = messages.map(one => dayOf(one['time_anchor'])).find(found => found !== null) ?? dayOf(anchor)
    if (messages.length === 0) problems.add(`${conversation}.chat[${at}]`, 'no messages in it')
    return messages.flatMap((one, place): Numbered[] => {
      const { role, content, id } = one
      if (typeof role !== 'string' || typeof content !== 'string' || content.trim() === '') {
        problems.add(`${conversation}.chat[${at}] message ${place + 1}`, 'expected role and content')
        return []
      }
      const raw = typeof id === 'number' ? id : null
      const name = `m${raw ?? `${at + 1}.${place + 1}`}`
      const before = counts.get(name) ?? 0
      counts.set(name, before + 1)
      const record = {
        id: before === 0 ? name : `${name}-${before + 1}`,
        ...{ conversation, session: `batch-${at + 1}`, speaker: role, role },
        ...(day !== undefined && day !== null && { at: day }),
        text: content.replace(/\s*->->\s*\d+,\d+\s*$/, ''),
      }
      return [{ record, raw }]
    })
  })
}

/** A batch is a list of messages, of lists of them, or an object with turns. */
function sessionOf(batch: unknown): Session {
  const messages: Readonly<Record<string, unknown>>[] = []
  const walk = (part: unknown): void => {
    if (Array.isArray(part)) for (const inner of part) walk(inner)
    else if (isRecord(part) && 'turns' in part) walk(part['turns'])
    else if (isRecord(part)) messages.push(part)
  }
  walk(batch)
  return { messages, anchor: isRecord(batch) ? batch['time_anchor'] : null }
}

/** "March-15-2024" as ISO 8601. */
export function dayOf(anchor: unknown): string | null {
  const match = typeof anchor === 'string' ? /^\s*([a-z]+)[- ](\d{1,2}),?[- ](\d{4})\s*$/i.exec(anchor) : null
  if (match === null) return null
  const [, name = '', day = '', year = ''] = match
  const month = MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1
  return month === 0 ? null : `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

function questionsOf(
  asked: unknown,
  conversation: string,
  messages: readonly Numbered[],
  problems: Problems,
): readonly Question[] {
  const text = typeof asked === 'string' ? parsed(asked) : { value: asked }
  const at = `${conversation}.probing_questions`
  if ('why' in text || !isRecord(text.value)) {
    problems.add(at, 'why' in text ? text.why : 'expected an object of lists of questions')
    return []
  }
  return Object.entries(text.value).flatMap(([ability, list]) => {
    const category = Object.hasOwn(CATEGORIES, ability) ? (CATEGORIES[ability] as string) : undefined
    if (category === undefined || !Array.isArray(list)) {
      problems.add(`${at}.${ability}`, 'expected one of the ten abilities, with a list of questions')
      return []
    }
    return list.flatMap((one: unknown, place): Question[] => {
      const where = `${at}.${ability}[${place}]`
      if (!isRecord(one) || typeof one['question'] !== 'string') {
        problems.add(where, 'expected an object with a question')
        return []
      }
      const id = `${conversation}-${ability}-${place + 1}`
      const question = { id, conversation, category, text: one['question'] }
      if (category === UNANSWERABLE) return [{ ...question, gold: new Set() }]
      const gold = goldOf(one['source_chat_ids'], messages, `${where}.source_chat_ids`, problems)
      return gold === null ? [] : [{ ...question, gold }]
    })
  })
}

/** Null where a question cannot be judged: nothing named, or a number that several messages have. */
function goldOf(source: unknown, messages: readonly Numbered[], at: string, problems: Problems): Set<string> | null {
  const gold = new Set<string>()
  for (const raw of numbersIn(source)) {
    const named = messages.filter(one => one.raw === raw)
    if (named.length > 1) {
      problems.add(at, `${raw} is the number of ${named.length} messages; the question is left out`)
      return null
    }
    if (named.length === 0) problems.add(at, `${raw} is the number of no message`)
    for (const { record } of named) gold.add(record.id)
  }
  if (gold.size > 0) return gold
  problems.add(at, 'names no message; the question is left out')
  return null
}

/** A number, or lists and objects of them, however deep. */
export function numbersIn(source: unknown): readonly number[] {
  if (typeof source === 'number') return [source]
  if (Array.isArray(source)) return source.flatMap(numbersIn)
  return isRecord(source) ? Object.values(source).flatMap(numbersIn) : []
}
