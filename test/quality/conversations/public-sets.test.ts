/** The readers of public sets of conversations, on small sets of the same form, with what is broken told by its place. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { beamRows, dayOf, numbersIn, readBeam } from '../../../bench/lib/conversations/beam.ts'
import { readLocomo, timeOf } from '../../../bench/lib/conversations/locomo.ts'
import { publicSets } from '../../../bench/lib/conversations/public-sets.ts'
import type { QuestionSet } from '../../../bench/lib/conversations/question-set.ts'

const FIXTURES = fileURLToPath(new URL('../../fixtures/conversation-sets/', import.meta.url))
const goldOf = ({ questions }: QuestionSet) => questions.map(({ id, category, gold }) => [id, category, ...gold])

describe('LoCoMo', () => {
  const read = () => readLocomo(readFileSync(`${FIXTURES}locomo.json`, 'utf8'), 'locomo.json')

  it('is read into conversations with sessions, dates, speakers and captions', async () => {
    const [kiln] = (await read()).conversations
    expect(kiln?.profile).toBe('people')
    expect(kiln?.participants).toEqual(['Tom', 'Mira'])
    expect(kiln?.messages.map(({ id, session, at }) => [id, session, at && new Date(at).toISOString()])).toEqual([
      ['D1:1', 'session_1', '2025-03-08T13:56:00.000Z'],
      ['D1:2', 'session_1', '2025-03-08T13:56:00.000Z'],
      ['D1:3', 'session_1', '2025-03-08T13:56:00.000Z'],
      ['D2:1', 'session_2', '2025-04-02T00:05:00.000Z'],
      ['D2:2', 'session_2', '2025-04-02T00:05:00.000Z'],
      ['D2:3', 'session_2', '2025-04-02T00:05:00.000Z'],
    ])
    expect(kiln?.messages[1]?.attachments).toMatchObject([{ caption: 'a kiln beside bales of hay' }])
    expect(kiln?.messages[2]).toMatchObject({ text: '', attachments: [{ caption: 'a red bicycle' }] })
  })

  it('keeps its questions with their evidence, also where one entry names two turns or writes zeros', async () => {
    expect(goldOf(await read())).toEqual([
      ['kiln-q1', 'temporal', 'D1:2'],
      ['kiln-q2', 'multi-evidence', 'D2:1', 'D2:3'],
      ['kiln-q3', 'adversarial', 'D1:3'],
      ['broken-q1', 'single-fact', 'D1:1'],
    ])
  })

  it('tells what is broken with its place, and reads the rest', async () => {
    const { problems, conversations } = await read()
    expect(problems).toEqual([
      'locomo.json: [1].conversation.session_1_date_time: no time such as "1:56 pm on 8 May, 2023"',
      'locomo.json: [1].conversation.session_1[1]: expected speaker, dia_id and text',
      'locomo.json: [1].conversation.session_1[2]: expected speaker, dia_id and text',
      'locomo.json: [1].conversation.session_2: expected a list of turns',
      'locomo.json: [1].qa[0].evidence: "D9:9" names no turn of the conversation',
      'locomo.json: [1].qa[0].evidence: "D" names no turn of the conversation',
      'locomo.json: [1].qa[1].evidence: no evidence is left; the question is left out',
      'locomo.json: [1].qa[2]: expected a question with a category from 1 to 5',
      'locomo.json: [1].qa[3]: expected a question with a category from 1 to 5',
      'locomo.json: [2]: expected an object with a conversation',
    ])
    expect(conversations.map(({ id, messages }) => [id, messages.length])).toEqual([
      ['kiln', 6],
      ['broken', 1],
    ])
    expect(conversations[1]?.messages[0]?.at).toBeNull()
  })

  it('that is no JSON, or no array, is told of', async () => {
    expect((await readLocomo('[{', 'x.json')).problems[0]).toMatch(/^x\.json: not JSON: /)
    expect((await readLocomo('{}', 'x.json')).problems).toEqual(['x.json: expected an array of samples'])
  })

  it('has times with noon and midnight where they belong', () => {
    expect(timeOf('12:30 pm on 1 January, 2023')).toBe('2023-01-01T12:30')
    expect(timeOf('12:30 am on 31 December, 2022')).toBe('2022-12-31T00:30')
    expect(timeOf('13:30 pm on 1 January, 2023')).toBeNull()
    expect(timeOf('1:30 pm on 1 Brumaire, 2023')).toBeNull()
    expect(timeOf(undefined)).toBeNull()
  })
})

describe('BEAM', () => {
  const read = async () => (await publicSets({ QUERENT_BEAM: `${FIXTURES}beam` })).sets[0] as QuestionSet

  it('is read into a chat with an assistant, its batches as sessions, each with its day', async () => {
    const [chat] = (await read()).conversations
    expect(chat?.profile).toBe('assistant')
    expect(
      chat?.messages.map(({ id, role, session, at }) => [id, role, session, at && new Date(at).getUTCMonth()]),
    ).toEqual([
      ['m0', 'user', 'batch-1', 2],
      ['m1', 'assistant', 'batch-1', 2],
      ['m2', 'user', 'batch-1', 2],
      ['m3', 'assistant', 'batch-1', 2],
      ['m4', 'user', 'batch-2', 4],
      ['m4-2', 'assistant', 'batch-2', 4],
    ])
    expect(chat?.messages[0]?.text).toBe('I keep bees, three hives of them.')
  })

  it('keeps its questions, the named messages flattened; one that names a number of two messages is left out', async () => {
    expect(goldOf(await read())).toEqual([
      ['1-abstention-1', 'unanswerable'],
      ['1-contradiction_resolution-1', 'contradiction', 'm0', 'm2', 'm3'],
      ['1-instruction_following-1', 'instruction', 'm2'],
      ['1-event_ordering-1', 'event-order', 'm0', 'm2', 'm3'],
      ['1-temporal_reasoning-1', 'temporal', 'm0'],
    ])
  })

  it('tells what is broken with its place, and reads the rest', async () => {
    const { problems } = await read()
    expect(problems[0]).toMatch(/^2\/chat\.json: /)
    expect(problems.slice(1)).toEqual([
      'beam: 1.chat[1] message 3: expected role and content',
      'beam: 1.probing_questions.knowledge_update[0].source_chat_ids: 4 is the number of 2 messages; the question is left out',
      'beam: 1.probing_questions.summarization[0].source_chat_ids: names no message; the question is left out',
      'beam: 1.probing_questions.summarization[1]: expected an object with a question',
      'beam: 1.probing_questions.temporal_reasoning[0].source_chat_ids: 99 is the number of no message',
      'beam: 1.probing_questions.clairvoyance: expected one of the ten abilities, with a list of questions',
    ])
  })

  it('is also read from rows, as JSON or JSON Lines, with questions as JSON text', async () => {
    const chat = JSON.parse(readFileSync(`${FIXTURES}beam/1/chat.json`, 'utf8')) as unknown
    const questions = { information_extraction: [{ question: 'How many hives?', source_chat_ids: 0 }] }
    const row = { conversation_id: 7, chat: [chat], probing_questions: JSON.stringify(questions) }
    for (const text of [JSON.stringify([row]), `${JSON.stringify(row)}\n\n`]) {
      const { chats, problems } = beamRows(text, 'rows')
      expect(problems).toEqual([])
      const set = await readBeam(chats, 'rows')
      expect(set.conversations[0]?.messages).toHaveLength(6)
      expect(goldOf(set)).toEqual([['7-information_extraction-1', 'extraction', 'm0']])
    }
    const { chats, problems } = beamRows(`${JSON.stringify(row)}\n{"chat"\n3\n`, 'rows')
    expect(chats).toHaveLength(1)
    expect(problems[0]).toMatch(/^rows: line 2: not JSON: /)
    expect(problems[1]).toBe('rows: line 3: expected an object with conversation_id, chat and probing_questions')
  })

  it('has days and numbers in several forms', () => {
    expect(dayOf('March-15-2024')).toBe('2024-03-15')
    expect(dayOf('September 5, 2024')).toBe('2024-09-05')
    expect(dayOf('15/3/2024')).toBeNull()
    expect(numbersIn({ a: [1, [2]], b: 3, c: 'x', d: null })).toEqual([1, 2, 3])
  })
})

describe('public sets', () => {
  it('that nobody has are named, with how to say where they are', async () => {
    const { sets, missing } = await publicSets({})
    expect(sets).toEqual([])
    expect(missing.join()).toMatch(/LoCoMo \(QUERENT_LOCOMO=.*BEAM \(QUERENT_BEAM=/)
  })

  it('at a path that is not there are an error', async () => {
    await expect(publicSets({ QUERENT_LOCOMO: '/nowhere/locomo10.json' })).rejects.toThrow(
      'QUERENT_LOCOMO: there is no',
    )
  })
})
