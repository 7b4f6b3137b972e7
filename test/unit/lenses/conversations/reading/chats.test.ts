import { describe, expect, it } from 'vitest'
import { type ReadingOptions, readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'
import { linesOf, problemLines } from './lines-of.ts'

describe('the export of Slack', () => {
  it('has people by name and in their zones, threads as replies, and events apart', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('slack'))
    expect(conversations.map(({ id, title, profile }) => [id, title, profile])).toEqual([
      ['D1', 'Mira Sol, נועה', 'people'],
      ['C1', 'kiln', 'people'],
    ])
    expect(linesOf(conversations[0] as never)).toEqual(['03-14 10:00 נועה: שלום', 'no time Mira Sol: no time'])
    expect(linesOf(conversations[1] as never)).toEqual([
      '03-13 16:33+01:00 Mira Sol: First [image shelf.png The new shelf]',
      '03-14 11:00+01:00 Mira Sol: Hello @Tom 🔥, see the plan (https://example.org/a?b=1&c=2) & #glaze @here',
      '03-14 06:01-04:00 Tom 🔥: 1 < 2, tom@example.org @U9 (edited)',
      '03-14 10:01 : (deleted)',
      '03-14 10:01 Oven: Kiln\n1060 degrees [link https://example.org/kiln Kiln]',
      '03-14 10:01 B2: Cooling, @Mira Sol\n200 degrees',
    ])
    const [, start, reply] = conversations[1]?.messages ?? []
    expect([start?.replyTo, reply?.replyTo]).toEqual([null, start?.id])
    expect(problemLines(problems)).toEqual([
      'D1/2025-03-14.json | 8 | [1] | its ts is not a time; it was stored without one',
      'kiln/2025-03-14.json | 75 | [6] | expected a JSON object',
    ])
    expect(left).toEqual({ 'file that is not part of the export (integration_logs.json)': 1, 'event channel_join': 1 })
  })

  it('has what programs put below a text, and messages that are passed on; of pages the name alone', async () => {
    const link = { from_url: 'https://example.org', title: 'A page', text: 'Much of it.' }
    const share = { from_url: 'https://x.slack.com/p1', text: 'It is in the barn.', author_name: 'Tom', is_share: true }
    const build = { title: 'Build', text: 'failed', fields: [{ title: 'Tests', value: '3 of <9' }], color: 'danger' }
    const day = [[link], [share], [build], []].map((attachments, n) => ({
      ...{ type: 'message', user: 'U1', ts: `174194640${n}.000100`, text: `m${n}`, attachments },
    }))
    const { conversations } = await readAll([fileOf('kiln/2025-03-14.json', JSON.stringify(day))])
    expect(conversations[0]?.messages.map(({ text }) => text)).toEqual([
      'm0',
      'm1\n\nIt is in the barn.',
      'm2\n\nBuild\nfailed\nTests: 3 of <9',
      'm3',
    ])
  })

  it('is read from one day of one channel too', async () => {
    const { conversations } = await readAll(fixtureFiles('slack/kiln/2025-03-13.json'))
    expect(conversations.map(({ id, messages }) => [id, messages[0]?.speaker])).toEqual([['slack', 'U1']])
  })
})

async function whatsapp(lines: readonly string[], options: ReadingOptions = {}, path = 'WhatsApp Chat with Ana.txt') {
  const reading = await readAll([fileOf(path, lines.join('\n'))], { format: 'whatsapp', ...options })
  return { ...reading, lines: reading.conversations.flatMap(linesOf), problems: problemLines(reading.problems) }
}

describe('the export of a chat of WhatsApp', () => {
  it('is read as Android writes it in English', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('whatsapp/WhatsApp Chat with Mira (1).txt'))
    expect(conversations.map(({ id, title }) => [id, title])).toEqual([['whatsapp:Mira', 'Mira']])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 09:58 Tom: Did you ever find a new place for the kiln?',
      '03-14 10:01 Mira 🌿: Yes, we moved it to the barn:\n- last weekend\n\n- with help',
      '03-14 10:02 Mira 🌿: [media]',
      '03-14 10:02 Mira 🌿: the barn [image IMG-20250314-WA0001.jpg]',
      '03-14 10:03 Tom: (deleted)',
      '03-14 10:04 Tom: Great! (edited)',
      '03-14 10:04 Tom: ok',
      '03-14 10:04 Tom: ok',
      '03-14 10:05 נועה: \u200fמצוין',
      'no time Tom: no such day',
    ])
    const ids = conversations[0]?.messages.map(({ id }) => id) ?? []
    expect(new Set(ids).size).toBe(ids.length)
    expect(problemLines(problems)).toEqual([
      'WhatsApp Chat with Mira (1).txt | 17 | 31/02/2025, 10:07 is not a time; it was stored without one',
    ])
    expect(left).toEqual({ 'line by WhatsApp itself': 3 })
  })

  it('is read as Android writes it in Spanish, on a clock of twelve hours', async () => {
    const { conversations, problems } = await readAll(fixtureFiles('whatsapp/Chat de WhatsApp con Los del taller.txt'))
    expect(problems).toEqual([])
    expect(conversations[0]?.title).toBe('Los del taller')
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 12:30 Iván: ¿Cuándo encendemos el horno?',
      '03-14 13:15 Lucía: Mañana por la mañana. Ayer no pude.',
      '03-14 13:16 Lucía: [media]',
      '03-14 13:17 Lucía: (deleted)',
      '03-14 13:18 Iván: Vale (edited)',
      '03-14 13:19 Iván: [document horno.pdf]',
    ])
  })

  it('is read as iOS writes it in the United States, with marks and CR LF', async () => {
    const files = fixtureFiles('whatsapp/WhatsApp Chat - Kiln club')
    const { conversations, problems, left } = await readAll(files)
    expect(problems).toEqual([])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-04 00:05 Tom: Midnight',
      '03-05 12:05 Ana: Noon: at last',
      '03-14 13:00 Ana: [image 00000012-PHOTO-2025-03-14-13-00-00.jpg]',
      '03-14 13:00 Ana: Look [audio 00000013-AUDIO-2025-03-14.opus]',
      '03-14 13:01 Ana: [document plan.pdf]',
      '03-14 13:02 Tom: (deleted)',
      '03-14 13:02 Tom: Better (edited)',
    ])
    expect(left).toEqual({ 'line by WhatsApp itself': 3 })
    expect(conversations[0]?.title).toBe('Kiln club')
  })

  it('is three chats in a folder of three', async () => {
    const { conversations } = await readAll(fixtureFiles('whatsapp'))
    expect(conversations.map(({ title }) => title).sort()).toEqual(['Kiln club', 'Los del taller', 'Mira'])
  })

  it.each([
    ['a day above 12 in front', ['13/04/2025', '05/04/2025'], '04-13', false],
    ['a day above 12 behind', ['04/13/2025', '04/05/2025'], '04-13', false],
    ['the order of the messages', ['10/02/2025', '01/03/2025', '02/03/2025'], '02-10', false],
    ['the order of the messages, month first', ['02/10/2025', '03/01/2025', '03/02/2025'], '02-10', false],
    ['no difference', ['03/03/2025'], '03-03', false],
    ['nothing', ['01/02/2025', '02/03/2025'], '02-01', true],
    ['years in front', ['2025/02/10', '2025/03/01'], '02-10', false],
    ['points', ['10.02.25', '13.03.25'], '02-10', false],
  ])('tells day and month apart by %s', async (_, dates, first, isDoubtful) => {
    const { lines, problems } = await whatsapp(dates.map(date => `${date}, 10:00 - Ana: x`))
    expect(lines[0]).toBe(`${first} 10:00 Ana: x`)
    expect(problems.length > 0).toBe(isDoubtful)
  })

  it('reports its choice where dates can be read both ways, and obeys an option', async () => {
    const lines = ['01/02/2025, 10:00 - Ana: x', '02/03/2025, 10:00 - Ana: y']
    const guessed = await whatsapp(lines)
    expect(guessed.problems).toEqual([
      'WhatsApp Chat with Ana.txt | its dates can be read day first or month first; day-first was assumed; name the other with a date order',
    ])
    const given = await whatsapp(lines, { dateOrder: 'month-first' })
    expect(given.problems).toEqual([])
    expect(given.lines[0]).toBe('01-02 10:00 Ana: x')
    expect(given.conversations[0]?.messages[0]?.id).toBe(guessed.conversations[0]?.messages[0]?.id)
  })

  it('tells of both ways of writing in one file, and of text before the first message', async () => {
    const { problems, lines } = await whatsapp(['lost', '13/04/2025, 10:00 - Ana: x', '04/14/2025, 10:00 - Ana: y'])
    expect(lines).toEqual(['04-13 10:00 Ana: x', 'no time Ana: y'])
    expect(problems).toEqual([
      expect.stringContaining('1 | no message has begun up to here'),
      expect.stringContaining('some of its dates are written day first, others month first; day-first was assumed'),
      expect.stringContaining('3 | 04/14/2025, 10:00'),
    ])
  })

  it('takes a line that only looks like another shape for a part of the message', async () => {
    const { lines } = await whatsapp([
      '13/04/2025, 10:00 - Ana: see',
      '[13/04/2025, 09:00:00] Tom: old',
      '13-04-2025, 1:00 - x',
    ])
    expect(lines).toEqual(['04-13 10:00 Ana: see\n[13/04/2025, 09:00:00] Tom: old\n13-04-2025, 1:00 - x'])
  })

  it.each([
    ['a word between date and time', '[14.3.2025 klo 13.05.07] Ana: x', '03-14 13:05 Ana: x'],
    ['such a word with an accent', '14/03/2025 à 10:00 - Ana: Où ?', '03-14 10:00 Ana: Où ?'],
    ['other signs within the date', '14-03-25 9:05 - Ana: x', '03-14 09:05 Ana: x'],
    ['a colon in a name', '13/04/2025, 10:00 - Bar 24:7: open: always', '04-13 10:00 Bar 24:7: open: always'],
    [
      'a file, whatever its name says',
      '[13/04/25, 10:00:00] Ana: \u200e<attached: 1-missed video call.mp4>',
      '04-13 10:00 Ana: [video 1-missed video call.mp4]',
    ],
    [
      'words about omitted images',
      '13/04/2025, 10:00 - Ana: why is every image omitted',
      '04-13 10:00 Ana: why is every image omitted',
    ],
  ])('is read with %s', async (_, line, expected) => {
    expect((await whatsapp([line])).lines).toEqual([expected])
  })

  it('is read with digits of Arabic and Persian, marks of direction in the date, and halves of the day as they say them', async () => {
    const arabic = ['[١٤\u200f/٣\u200f/٢٠٢٥، ٩:٠٥:٠٧ ص] مريم: ٣ أكواب', '[١٤\u200f/٣\u200f/٢٠٢٥، ١٢:٠٦:٠٠ م] Tom: y']
    expect((await whatsapp(arabic)).lines).toEqual(['03-14 09:05 مريم: ٣ أكواب', '03-14 12:06 Tom: y'])
    expect((await whatsapp(['۱۴/۳/۲۰۲۵، ۱۰:۰۰ - مریم: سلام'])).lines).toEqual(['03-14 10:00 مریم: سلام'])
  })

  it.each([
    ['2025. 3. 14. 오전 9:05 - 미라: 안녕', '03-14 09:05 미라: 안녕'],
    ['[2025. 3. 14. 오후 12:05:09] 미라: 안녕', '03-14 12:05 미라: 안녕'],
    ['2025/3/14 下午3:05 - 明: 你好', '03-14 15:05 明: 你好'],
    ['2025/03/14 午前0:05 - 明: x', '03-14 00:05 明: x'],
    ['2025/03/14 午後0:05 - 明: x', '03-14 12:05 明: x'],
  ])('is read with the half of the day before the time: %s', async (line, expected) => {
    const { lines, problems } = await whatsapp([line])
    expect([lines, problems]).toEqual([[expected], []])
  })

  it.each([
    ['Mira created group "Trip: Lugo"', true],
    ['You created group “Trip: Lugo”', true],
    ['Mira creó el grupo "Viaje: Lugo"', true],
    ['Creaste el grupo "Viaje: Lugo"', true],
    ['Mira changed the subject from "Trip: Lugo" to "Trip: Vigo"', true],
    ['Tom: she changed the subject to pots', false],
    ['Tom: Mira created group "Trip: Lugo" for us', false],
    ['Tom: Creaste el grupo "Viaje: Lugo"', false],
  ])('tells what became of a group from what somebody says of it: %s', async (rest, isEvent) => {
    const { lines, left } = await whatsapp(['13/04/2025, 10:00 - Ana: x', `13/04/2025, 10:01 - ${rest}`])
    expect(lines.slice(1)).toEqual(isEvent ? [] : [`04-13 10:01 ${rest}`])
    expect(left).toEqual(isEvent ? { 'line by WhatsApp itself': 1 } : {})
  })

  it('takes no longer than it must over runs of blanks and marks', async () => {
    const runs = [' '.repeat(200_000), '\u200e'.repeat(200_000), '<'.repeat(200_000)].map(run => `a${run}b omitted`)
    const { conversations } = await whatsapp(runs.map(run => `13/04/2025, 10:00 - Ana: ${run}`))
    expect(conversations[0]?.messages.map(({ text }) => text.length)).toEqual(runs.map(run => run.length))
  })

  it('names a chat by its first line where nothing else does, and says when nothing does', async () => {
    const event = '[13/04/25, 10:00:00] Mira: \u200eMessages and calls are end-to-end encrypted.'
    const message = '[13/04/25, 10:00:01] Tom: Hi'
    expect((await whatsapp([event, message], {}, '_chat.txt')).conversations[0]?.title).toBe('Mira')
    const unnamed = await whatsapp([message], {}, '_chat.txt')
    expect(unnamed.problems).toEqual([expect.stringContaining('this chat has no name')])
    const given = await whatsapp([message], { conversation: 'Ours', zone: '+02:00' }, '_chat.txt')
    expect(given.conversations[0]?.id).toBe('Ours')
    expect(given.lines).toEqual(['04-13 10:00+02:00 Tom: Hi'])
  })
})
