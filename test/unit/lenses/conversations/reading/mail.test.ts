import { describe, expect, it } from 'vitest'
import { readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'
import { linesOf, problemLines } from './lines-of.ts'

describe('mails', () => {
  it('are threads by what answers what, from mbox and EML together, without quotations and signatures', async () => {
    const { conversations, problems, left } = await readAll(fixtureFiles('mail'))
    expect(conversations.map(({ id, title }) => [id, title])).toEqual([
      ['a@example.org', 'The kiln'],
      ['d@example.org', 'Undated'],
    ])
    expect(linesOf(conversations[0] as never)).toEqual([
      '03-14 10:00+01:00 Mira Sol: Shall we move it?\n\nFrom here it is far.\nFrom the barn it is not.',
      '03-14 05:30-05:00 Tomás: Sí, mañana.\n\nI bring the van.',
      '03-15 09:00+01:00 Mira Sol: Good & done 🎉 [image barn.jpg]',
      '03-17 08:00 Ana: How was it?',
    ])
    const messages = conversations[0]?.messages ?? []
    expect(messages.map(({ replyTo }) => replyTo)).toEqual([null, 'a@example.org', 'b@example.org', 'c@example.org'])
    expect(new Set(messages.map(({ session }) => session))).toEqual(new Set(['a@example.org']))
    expect(problemLines(problems)).toEqual([
      'kiln.mbox | 74 | mail 5 | its date is missing or not a time; it was stored without one',
    ])
    expect(left).toEqual({ 'copy of a mail': 1 })
  })

  it('belong to the thread of a mail that is missing, and to none that they do not name', async () => {
    const mail = (id: string, head: string) =>
      fileOf(
        `${id}.eml`,
        `From: ${id}@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\nMessage-ID: <${id}>\n${head}\n\nx ${id}\n`,
      )
    const { conversations } = await readAll([
      mail('b', 'References: <a> <z>'),
      mail('c', 'In-Reply-To: <b>'),
      mail('d', 'Subject: Re: a'),
    ])
    expect(conversations.map(({ id, messages }) => [id, messages.map(message => message.id)])).toEqual([
      ['a', ['b', 'c']],
      ['d', ['d']],
    ])
  })

  it('are of the zone that is given where their date names none, and have no time where it is none', async () => {
    const mail = (date: string) => fileOf('a.eml', `From: ana@example.org\nMessage-ID: <a>\nDate: ${date}\n\nx\n`)
    const read = async (date: string) => {
      const { conversations, problems } = await readAll([mail(date)], { zone: 'Europe/Madrid', format: 'mail' })
      return [...linesOf(conversations[0] as never), ...problemLines(problems)]
    }
    expect(await read('Fri, 14 Mar 2025 10:00:00')).toEqual(['03-14 10:00+01:00 ana@example.org: x'])
    expect(await read('14 Jul 2025 10:00')).toEqual(['07-14 10:00+02:00 ana@example.org: x'])
    expect(await read('Fri, 14 Mar 2025 10:00:00 EST')).toEqual(['03-14 16:00+01:00 ana@example.org: x'])
    expect(await read('no date 5')).toEqual([
      'no time ana@example.org: x',
      'a.eml | 1 | its date is missing or not a time; it was stored without one',
    ])
  })

  it('of one id that say something else are reported', async () => {
    const mail = (path: string, text: string) =>
      fileOf(path, `From: ana@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\nMessage-ID: <a>\n\n${text}\n`)
    const { problems, left } = await readAll([mail('a.eml', 'x'), mail('b.eml', 'x'), mail('c.eml', 'other words')])
    expect(left).toEqual({ 'copy of a mail': 1 })
    expect(problemLines(problems)).toEqual([
      'c.eml | 1 | the mail id a occurred before with another text; it was left out',
    ])
  })

  it('of a long thread and of one that goes round in a circle each find their first', async () => {
    const mail = (id: string, above: string) =>
      `From x Fri Mar 14 10:00:00 2025\nFrom: a@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\nMessage-ID: <${id}>\nIn-Reply-To: <${above}>\n\nx\n\n`
    const thread = Array.from({ length: 3000 }, (_, n) => mail(`m${n + 1}`, `m${n}`)).reverse()
    const circle = [mail('q', 'p'), mail('p', 'q'), mail('z', 'p')]
    const { conversations } = await readAll([fileOf('a.mbox', [...thread, ...circle].join(''))])
    expect(conversations.map(({ id, messages }) => [id, messages.length])).toEqual([
      ['m0', 3000],
      ['p', 3],
    ])
  })

  it('that are none are reported', async () => {
    const text =
      'From x Fri Mar 14 10:00:00 2025\n\nno header at all\n\nFrom y Fri Mar 14 10:00:00 2025\nFrom: y@example.org\n\nfine\n'
    const { conversations, problems } = await readAll([fileOf('a.mbox', text)], { format: 'mail' })
    expect(conversations.flatMap(linesOf)).toEqual(['no time y@example.org: fine'])
    expect(problemLines(problems)[0]).toBe('a.mbox | 2 | mail 1 | not a mail: it has neither a sender nor a date')
  })

  it.each([
    ['ISO-2022-JP', 'iso-2022-jp', [0x1b, 0x24, 0x42, 0x3c, 0x6a, 0x1b, 0x28, 0x42], '手'],
    ['Windows-1252', 'windows-1252', [0x80], '€'],
    ['UTF-8', 'utf-8', [0xc3, 0xb1], 'ñ'],
  ])('are read in %s', async (_, charset, bytes, expected) => {
    const head = `From: a@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\nContent-Type: text/plain; charset=${charset}\n\n`
    const mail = new Uint8Array([...new TextEncoder().encode(head), ...bytes, 0x0a])
    const { conversations } = await readAll([fileOf('a.eml', mail)])
    expect(conversations[0]?.messages[0]?.text).toBe(expected)
  })
})

describe('the own text of a mail', () => {
  const ownText = async (body: string) => {
    const mail = `From: a@example.org\nDate: Fri, 14 Mar 2025 10:00:00 +0000\n\n${body}`
    const { conversations } = await readAll([fileOf('a.eml', mail)], { format: 'mail' })
    return conversations[0]?.messages[0]?.text
  }

  it.each([
    ['an answer above', 'Yes.\n\nOn Fri, 14 Mar 2025 at 10:00, Tom <t@example.org> wrote:\n> Well?\n', 'Yes.'],
    ['an answer below', 'Tom wrote:\n> Well?\n\nYes.', 'Tom wrote:\n\nYes.'],
    ['answers between', '> One?\nYes.\n> Two?\nNo.', 'Yes.\nNo.'],
    [
      'an introduction that is wrapped',
      'Yes.\n\nOn Fri, 14 Mar 2025 at 10:00, Tom\n<t@example.org> wrote:\n\n> Well?',
      'Yes.',
    ],
    ['a quotation that lost its marks', 'Sí.\n\nEl 14/3/2025 a las 10:00, Tom escribió:\n\n¿Y bien?', 'Sí.'],
    ['the original message of Outlook', 'Yes.\n\n-----Mensaje original-----\nDe: Tom\n\n¿Y bien?', 'Yes.'],
    ['a signature', 'Yes.\n-- \nMira\nPots', 'Yes.'],
    ['a signature that lost its blank', 'Yes.\n--\nMira', 'Yes.'],
    ['the line of a telephone', 'Yes.\n\nSent from my iPhone\n', 'Yes.'],
    [
      'a mail that is passed on',
      'See:\n\n---------- Forwarded message ---------\nFrom: Tom\n\n> Well?',
      'See:\n\n---------- Forwarded message ---------\nFrom: Tom\n\n> Well?',
    ],
    ['nothing but a quotation', '> Well?\n', '> Well?'],
    ['a sentence that tells of writing', 'On Monday he came.\nHe wrote: no.', 'On Monday he came.\nHe wrote: no.'],
  ])('is what is left of %s', async (_, body, own) => {
    expect(await ownText(body)).toBe(own)
    expect(await ownText(body.replaceAll('\n', '\r\n'))).toBe(own)
  })
})
