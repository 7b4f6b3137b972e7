import { describe, expect, it } from 'vitest'
import { type ReadingOptions, readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'
import { linesOf, problemLines } from './lines-of.ts'

const record = (fields: object): string => `${JSON.stringify(fields)}\n`

async function messagesOf(text: string, options: ReadingOptions = {}) {
  const { conversations } = await readAll([fileOf('chat.jsonl', text)], { format: 'jsonl', ...options })
  return conversations.flatMap(({ messages }) => messages)
}

describe('conversations in JSON Lines', () => {
  it('are read with zones, sessions, replies, edits and deletions; broken lines are reported', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('records/chat.jsonl'))
    expect(conversations.map(({ id, profile }) => ({ id, profile }))).toEqual([
      { id: 'kiln', profile: 'people' },
      { id: 'glaze', profile: 'people' },
    ])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 09:58+00:00 Tom: Did you ever find a new place for the kiln?',
      '03-14 11:01+01:00 Mira: Yes, we moved it to the barn last weekend.',
      'no time נועה 🌿: מצוין 🎉',
      '03-15 08:30-05:00 Mira: The rent is 40 a month. (edited)',
      '03-15 14:30 Tom: (deleted)',
      'no time Tom: Fine. [image barn.jpg a barn with a red door]',
    ])
    expect(conversations[0]?.messages.map(({ id, session, replyTo }) => [id, session, replyTo])).toEqual([
      ...[
        ['m1', 's1', null],
        ['m2', 's1', 'm1'],
        ['m3', 's1', null],
      ],
      ...[
        ['m4', 's2', null],
        ['m5', 's2', null],
        ['m6', 's2', null],
      ],
    ])
    expect(conversations[0]?.messages[3]?.edited).toEqual({ at: Date.parse('2025-03-15T14:00:00Z') })
    expect(linesOf(conversations[1] as never)).toEqual([
      '03-14 00:00 Ana: Which glaze?',
      'no time Ana: The blue\n\none.',
    ])
    expect(problemLines(problems)).toEqual([
      expect.stringContaining('chat.jsonl | 4 | not JSON'),
      'chat.jsonl | 6 | expected a JSON object',
      'chat.jsonl | 9 | the field at is not a time; it was stored without one',
      'chat.jsonl | 11 | the message id n1 occurred before',
    ])
    expect(left).toEqual({ 'field of a record that is not read (mood)': 1 })
  })

  it('are read with a map, and times without a zone in the zone that is given', async () => {
    const map = { id: 'n', role: 'kind', speaker: 'who.name', at: 'when', text: 'said.text' }
    const files = fixtureFiles('records/mapped.jsonl')
    const { conversations, problems, left } = await readAll(files, { format: 'jsonl', map, zone: 'Europe/Madrid' })
    expect(problems).toEqual([])
    expect(left).toEqual({})
    expect(conversations.map(({ id, profile }) => [id, profile])).toEqual([['mapped', 'assistant']])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 10:00+01:00 human: Hola',
      '03-14 10:00+01:00 bot: ¡Hola!',
    ])
    expect(conversations[0]?.messages.map(({ id, role }) => [id, role])).toEqual([
      ['1', 'user'],
      ['2', 'assistant'],
    ])
  })

  it('are deleted or edited where they say so, and not where they say false in words', async () => {
    const said = ['false', 'No', '0', 'null', false, 0, ''].map(no => ({ text: 'x', deleted: no, edited: no }))
    const messages = await messagesOf([...said, { text: 'x', deleted: 'true', edited: true }].map(record).join(''))
    expect(messages.map(({ deleted, edited }) => [deleted, edited])).toEqual([
      ...said.map(() => [false, undefined]),
      [true, { at: null }],
    ])
  })

  it('are of the conversation whose id, or name, an object has, and say when it has neither', async () => {
    const channels = [{ id: 'C1', name: 'kiln' }, { name: 'barn' }, { topic: 'x' }]
    const lines = channels.map(channel => record({ channel, text: 'x' })).join('')
    const { conversations, problems } = await readAll([fileOf('c.jsonl', lines)])
    expect(conversations.map(({ id }) => id)).toEqual(['C1', 'barn', 'c'])
    expect(problemLines(problems)).toEqual([
      'c.jsonl | 3 | the field channel names no conversation; that of the file was used',
    ])
  })

  it('have ids that are larger numbers than a number holds exactly', async () => {
    const lines = ['9007199254740992', '9007199254740993'].map(id => `{"id":${id},"text":"x","at":1741946400.5}\n`)
    const messages = await messagesOf(lines.join(''))
    expect(messages.map(({ id, at }) => [id, at])).toEqual([
      ['9007199254740992', 1_741_946_400_500],
      ['9007199254740993', 1_741_946_400_500],
    ])
  })

  it('refuse a map with a field that there is not, naming those there are', async () => {
    const reading = readAll(fixtureFiles('records/mapped.jsonl'), { map: { txt: 'said' } })
    await expect(reading).rejects.toMatchObject({ code: 'unknown_field', message: expect.stringContaining('reply_to') })
  })

  it('are put in order of time, what has no time behind the message before it', async () => {
    const late = { conversation: 'c', at: '2025-03-14T12:00:00Z', text: 'late' }
    const text = [late, { conversation: 'c', text: 'then' }, { ...late, at: '2025-03-14T08:00:00Z', text: 'early' }]
    const messages = await messagesOf(text.map(record).join(''))
    expect(messages.map(({ text, position }) => [text, position])).toEqual([
      ...[
        ['early', 0],
        ['late', 1],
        ['then', 2],
      ],
    ])
  })

  it.each([
    ['2025-03-14T10:00:00Z', '2025-03-14T10:00:00.000Z', null],
    ['2025-03-14T10:00:00.123456+05:30', '2025-03-14T04:30:00.123Z', 330],
    ['2025-03-14 10:00 -0800', '2025-03-14T18:00:00.000Z', -480],
    ['2025-03-14T10:00:00', '2025-03-14T10:00:00.000Z', null],
    [1741946400, '2025-03-14T10:00:00.000Z', null],
    [1741946400123, '2025-03-14T10:00:00.123Z', null],
    ['1741946400', '2025-03-14T10:00:00.000Z', null],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', null],
    ['2025-02-29', null, null],
    ['2025-03-14T25:00:00Z', null, null],
    ['2025-03-14T10:00:00+99:00', null, null],
    [1e300, null, null],
    [{}, null, null],
  ])('read the time %j', async (at, expected, zone) => {
    const [message] = await messagesOf(record({ text: 'x', at }))
    expect(message?.at ?? null).toBe(expected === null ? null : Date.parse(expected))
    expect(message?.zone).toBe(zone)
  })

  it('know what a clock of the zone given showed, in summer and in winter', async () => {
    const times = ['2025-01-15 12:00:00', '2025-07-15 12:00:00', '2025-03-30 02:30:00', '2025-10-26 02:30:00']
    const messages = await messagesOf(times.map(at => record({ text: at, at })).join(''), { zone: 'Europe/Madrid' })
    expect(messages.map(({ at, zone }) => [new Date(at ?? 0).toISOString(), zone])).toEqual([
      ['2025-01-15T11:00:00.000Z', 60],
      ['2025-03-30T01:30:00.000Z', 60],
      ['2025-07-15T10:00:00.000Z', 120],
      ['2025-10-26T00:30:00.000Z', 120],
    ])
  })

  it('tell of a time in microseconds, which would be one in tens of thousands of years', async () => {
    const lines = [1_741_946_400_000_000, '1741946400000000', 1_741_946_400_000]
    const file = fileOf('c.jsonl', lines.map((at, id) => JSON.stringify({ id, at, text: 'x' })).join('\n'))
    const { conversations, problems } = await readAll([file])
    expect(conversations[0]?.messages.map(({ at }) => at)).toEqual([null, null, 1_741_946_400_000])
    expect(problemLines(problems)).toEqual([
      'c.jsonl | 1 | the field at is not a time; it was stored without one',
      'c.jsonl | 2 | the field at is not a time; it was stored without one',
    ])
  })

  it('refuse a zone that there is not', async () => {
    await expect(messagesOf('{}', { zone: 'Mars/Olympus' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('tell of a role that is none, of texts that are none and of bytes that are no text', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"text":"a'), 0xff, ...new TextEncoder().encode('"}\n')])
    const lines = [{ text: 'x', role: 'wizard' }, { text: { a: 1 } }, { speaker: 'Ana' }]
    const broken = await readAll([fileOf('a.jsonl', bytes)], { format: 'jsonl' })
    const { problems } = await readAll([fileOf('a.jsonl', lines.map(record).join(''))], { format: 'jsonl' })
    expect(broken.conversations[0]?.messages[0]?.text).toBe('a\ufffd')
    expect(problemLines(broken.problems)).toEqual([expect.stringContaining('U+FFFD')])
    expect(problemLines(problems)).toEqual([
      'a.jsonl | 1 | the role wizard is not one of user, assistant, system, tool; it was stored without one',
      'a.jsonl | 2 | the field text is not text',
      'a.jsonl | 3 | it has no text; name the field that has it with a map',
    ])
  })

  it('have names and ids of a length that can be kept; a cut is reported', async () => {
    const id = 'i'.repeat(5000)
    const text = record({ id, speaker: 'n'.repeat(5000), text: 'x' }) + record({ id, text: 'y' })
    const { conversations, problems } = await readAll([fileOf('a.jsonl', text)])
    expect(conversations[0]?.messages.map(one => [one.id.length, one.speaker.length])).toEqual([[512, 200]])
    expect(problems.every(({ message }) => message.length < 600)).toBe(true)
    expect(problems).toHaveLength(2)
  })

  it('are read from UTF-16 with its mark, a byte at a time', async () => {
    const text = record({ text: 'ñ 🎉', speaker: 'Ana' })
    const units = [0xfeff, ...Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))]
    const bytes = new Uint8Array(new Uint16Array(units).buffer)
    const { conversations } = await readAll([fileOf('a.jsonl', bytes, 1)], { format: 'jsonl' })
    expect(linesOf(conversations[0] as never)).toEqual(['no time Ana: ñ 🎉'])
  })
})

describe('sessions', () => {
  it('end with a silence of more than six hours, and are named by their first message', async () => {
    const at = (hours: number) => 1741946400 + hours * 3600
    const hours = [0, 1, 7, 13.1, 13.2]
    const messages = await messagesOf(hours.map((h, n) => record({ id: `m${n}`, at: at(h), text: 'x' })).join(''))
    expect(messages.map(({ session }) => session)).toEqual(['m0', 'm0', 'm0', 'm3', 'm3'])
  })
})

describe('the profile', () => {
  it('is that of an assistant when one speaks, unless the caller says otherwise', async () => {
    const text = record({ role: 'user', text: 'q' }) + record({ role: 'assistant', text: 'a' })
    const read = async (options: ReadingOptions) =>
      (await readAll([fileOf('a.jsonl', text)], { format: 'jsonl', ...options })).conversations[0]?.profile
    expect(await read({})).toBe('assistant')
    expect(await read({ profile: 'people' })).toBe('people')
  })
})
