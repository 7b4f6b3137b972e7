/**
 * Reader of LoCoMo (`locomo10.json` of snap-research/locomo): an array of `{ sample_id, conversation, qa }`, where the
 * conversation has `session_N` (a list of `{ speaker, dia_id, text, blip_caption? }`) and `session_N_date_time`. What is
 * broken is told with its place, and the rest is read.
 */
import { isRecord } from '../../../src/base/record.ts'
import { Problems, parsed } from './problems.ts'
import { type MessageRecord, type Question, type QuestionSet, readRecords } from './question-set.ts'

const CATEGORIES: Readonly<Record<number, string>> = {
  1: 'multi-evidence',
  2: 'temporal',
  3: 'open-inference',
  4: 'single-fact',
  5: 'adversarial',
}

type Fields = Readonly<Record<string, unknown>>

export async function readLocomo(json: string, file: string): Promise<QuestionSet> {
  const problems = new Problems(file)
  const whole = parsed(json)
  if ('why' in whole) problems.add('', whole.why)
  const samples = 'value' in whole ? whole.value : []
  if (!Array.isArray(samples)) problems.add('', 'expected an array of samples')
  const records: MessageRecord[] = []
  const questions: Question[] = []
  for (const [at, sample] of (Array.isArray(samples) ? samples : []).entries()) {
    if (!isRecord(sample) || !isRecord(sample['conversation'])) {
      problems.add(`[${at}]`, 'expected an object with a conversation')
      continue
    }
    const id = typeof sample['sample_id'] === 'string' ? sample['sample_id'] : `sample-${at + 1}`
    const messages = messagesOf(sample['conversation'], id, `[${at}].conversation`, problems)
    records.push(...messages)
    questions.push(...questionsOf(sample, id, new Set(messages.map(one => one.id)), `[${at}].qa`, problems))
  }
  const { conversations, problems: unread } = await readRecords(file, records)
  for (const { line, message } of unread) problems.add(`message ${line ?? ''}`, message)
  const languages = new Map(conversations.map(one => [one.id, 'en' as const]))
  return { name: 'LoCoMo', conversations, questions, languages, problems: problems.found }
}

function messagesOf(conversation: Fields, id: string, at: string, problems: Problems): readonly MessageRecord[] {
  const sessions = Object.keys(conversation)
    .flatMap(name => /^session_(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
  return sessions.flatMap(number => {
    const turns = conversation[`session_${number}`]
    if (!Array.isArray(turns)) {
      problems.add(`${at}.session_${number}`, 'expected a list of turns')
      return []
    }
    const when = timeOf(conversation[`session_${number}_date_time`])
    if (when === null) problems.add(`${at}.session_${number}_date_time`, 'no time such as "1:56 pm on 8 May, 2023"')
    return turns.flatMap((turn: unknown, place): MessageRecord[] => {
      const message = messageOf(turn)
      if (message === null) {
        problems.add(`${at}.session_${number}[${place}]`, 'expected speaker, dia_id and text')
        return []
      }
      return [{ ...message, conversation: id, session: `session_${number}`, ...(when !== null && { at: when }) }]
    })
  })
}

function messageOf(turn: unknown): Pick<MessageRecord, 'id' | 'speaker' | 'text' | 'attachments'> | null {
  if (!isRecord(turn)) return null
  const { speaker, dia_id: id, text, blip_caption: caption } = turn
  if (typeof speaker !== 'string' || typeof id !== 'string' || typeof text !== 'string') return null
  const attachments = typeof caption === 'string' && caption !== '' ? [{ kind: 'image', caption }] : undefined
  return text === '' && attachments === undefined ? null : { id, speaker, text, ...(attachments && { attachments }) }
}

const TIME = /^\s*(\d{1,2}):(\d\d)\s*(am|pm)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*$/i
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** "1:56 pm on 8 May, 2023" as ISO 8601 without a zone. */
export function timeOf(written: unknown): string | null {
  const match = typeof written === 'string' ? TIME.exec(written) : null
  if (match === null) return null
  const [, hour = '', minute = '', half = '', day = '', name = '', year = ''] = match
  const month = MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1
  if (month === 0 || Number(hour) < 1 || Number(hour) > 12) return null
  const hours = (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const two = (number: number | string) => String(number).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)}T${two(hours)}:${minute}`
}

function questionsOf(
  sample: Fields,
  id: string,
  known: ReadonlySet<string>,
  at: string,
  problems: Problems,
): readonly Question[] {
  const qa = sample['qa']
  if (!Array.isArray(qa)) {
    problems.add(at, 'expected a list of questions')
    return []
  }
  return qa.flatMap((one: unknown, place): Question[] => {
    const category = isRecord(one) ? CATEGORIES[Number(one['category'])] : undefined
    if (!isRecord(one) || typeof one['question'] !== 'string' || category === undefined) {
      problems.add(`${at}[${place}]`, 'expected a question with a category from 1 to 5')
      return []
    }
    const gold = evidenceOf(one['evidence'], known, `${at}[${place}].evidence`, problems)
    if (gold.size === 0) return []
    return [{ id: `${id}-q${place + 1}`, conversation: id, category, text: one['question'], gold }]
  })
}

/** Some entries name several turns (`D8:6; D9:17`), some are written carelessly (`D30:05`), some name none. */
function evidenceOf(evidence: unknown, known: ReadonlySet<string>, at: string, problems: Problems) {
  const entries = Array.isArray(evidence) ? evidence : [evidence]
  const gold = new Set<string>()
  for (const entry of entries) {
    const turns = typeof entry === 'string' ? [...entry.matchAll(/D:?(\d+):(\d+)/g)] : []
    const ids = turns.map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`)
    for (const id of ids) if (known.has(id)) gold.add(id)
    if (ids.length === 0 || !ids.every(id => known.has(id))) {
      problems.add(at, `${JSON.stringify(entry) ?? 'nothing'} names no turn of the conversation`)
    }
  }
  if (gold.size === 0) problems.add(at, 'no evidence is left; the question is left out')
  return gold
}
