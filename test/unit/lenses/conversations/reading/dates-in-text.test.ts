import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DAY_MS,
  dayOf,
  relativeDates,
  resolvedDates,
  saysTime,
} from '../../../../../src/lenses/conversations/reading/dates.ts'
import { readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { fileOf } from '../../../../support/export-files.ts'

const FRIDAY = Date.UTC(2025, 2, 14)
const textsOf = (text: string, day = FRIDAY) => relativeDates(text, day)

describe('relative dates', () => {
  it.each([
    ['yesterday', '13 March 2025'],
    ['last night', '13 March 2025'],
    ['the day before yesterday', '12 March 2025'],
    ['today', '14 March 2025'],
    ['tonight', '14 March 2025'],
    ['this morning', '14 March 2025'],
    ['tomorrow', '15 March 2025'],
    ['the day after tomorrow', '16 March 2025'],
    ['last week', 'week of 7 March 2025'],
    ['next week', 'week of 21 March 2025'],
    ['last  weekend', 'weekend of 8 March 2025'],
    ['last month', 'February 2025'],
    ['this month', 'March 2025'],
    ['next month', 'April 2025'],
    ['last year', '2024'],
    ['this year', '2025'],
    ['Next Year', '2026'],
    ['last Friday', '7 March 2025'],
    ['last monday', '10 March 2025'],
    ['on Wednesday', '12 March 2025'],
    ['this Friday', '14 March 2025'],
    ['this Saturday', '15 March 2025'],
    ['next Friday', '21 March 2025'],
    ['next Saturday', '15 March 2025'],
    ['3 days ago', '11 March 2025'],
    ['a day ago', '13 March 2025'],
    ['a couple of days ago', '12 March 2025'],
    ['couple days ago', '12 March 2025'],
    ['a few weeks ago', 'week of 21 February 2025'],
    ['two weeks ago', 'week of 28 February 2025'],
    ['ten months ago', 'May 2024'],
    ['3 months ago', 'December 2024'],
    ['an year ago', '2024'],
    ['7 years ago', '2018'],
    ['in March', 'March 2025'],
    ['in october', 'October 2025'],
    ['ayer', '13 March 2025'],
    ['Ayer por la tarde', '13 March 2025'],
    ['anoche', '13 March 2025'],
    ['anteayer', '12 March 2025'],
    ['hoy', '14 March 2025'],
    ['esta noche', '14 March 2025'],
    ['esta mañana', '14 March 2025'],
    ['mañana', '15 March 2025'],
    ['pasado mañana', '16 March 2025'],
    ['la semana pasada', 'week of 7 March 2025'],
    ['la semana que viene', 'week of 21 March 2025'],
    ['la próxima semana', 'week of 21 March 2025'],
    ['el fin de semana pasado', 'weekend of 8 March 2025'],
    ['el finde pasado', 'weekend of 8 March 2025'],
    ['el mes pasado', 'February 2025'],
    ['este mes', 'March 2025'],
    ['el mes que viene', 'April 2025'],
    ['el año pasado', '2024'],
    ['este año', '2025'],
    ['el próximo año', '2026'],
    ['el lunes pasado', '10 March 2025'],
    ['el pasado lunes', '10 March 2025'],
    ['el viernes pasado', '7 March 2025'],
    ['este viernes', '14 March 2025'],
    ['el lunes que viene', '17 March 2025'],
    ['el próximo miércoles', '19 March 2025'],
    ['el proximo miercoles', '19 March 2025'],
    ['hace 3 días', '11 March 2025'],
    ['hace un par de semanas', 'week of 28 February 2025'],
    ['hace unos meses', 'December 2024'],
    ['hace diez años', '2015'],
    ['hace una semana', 'week of 7 March 2025'],
    ['en marzo', 'March 2025'],
    ['en setiembre', 'September 2025'],
  ])('%s, on Friday, 14 March 2025, is %s', (said, expected) => {
    expect(textsOf(`So: ${said}.`)).toEqual([expected])
    expect(relativeDates(said.toUpperCase(), FRIDAY)[0]).toBe(expected)
  })

  it.each([
    'por la mañana',
    'a las diez de la mañana',
    'toda la mañana',
    'buenas mañanas',
    'in March 2023',
    'in March of 2023',
    'en marzo de 2023',
    'on Friday the 14th',
    'on Friday, 14 March',
    'on Fridays',
    'the yesterdays',
    'a weekend',
    'lastweek',
    'ago',
    'hace frío',
    'todayish',
    'marching in',
    '99999 days ago',
  ])('%s says nothing of the kind', said => {
    expect(textsOf(said)).toEqual([])
  })

  it.each([
    ['In May of last year we met.', ['May 2024']],
    ['It was in March last year.', ['March 2024']],
    ['We meet in June next year.', ['June 2026']],
    ['Fue en mayo del año pasado.', ['May 2024']],
    ['Será en junio del año que viene.', ['June 2026']],
    ['Fue en enero de este año.', ['January 2025']],
  ])('take a month with the year that is said of it: %s', (text, expected) => {
    expect(textsOf(text)).toEqual(expected)
  })

  it.each([
    'half a year ago',
    'twenty-two days ago',
    'thirty five years ago',
    '2.5 years ago',
    'a year and two months ago',
    'a hundred and five years ago',
    '3000 years ago',
    'hace un año y medio',
    'hace dos años y 3 meses',
    'hace una semana y un día',
    'hoy en día',
    'hoy por hoy',
  ])('take no part of an expression for all of it: %s', text => {
    expect(textsOf(`${text}, so`)).toEqual([])
  })

  it.each([
    ['We had a party two weeks ago', ['week of 28 February 2025']],
    ['hace un año y una amiga vino', ['2024']],
    ['hoy por la noche', ['14 March 2025']],
  ])('take what only looks like a part: %s', (text, expected) => {
    expect(textsOf(text)).toEqual(expected)
  })

  it('tell the morning of tomorrow from the morning', () => {
    expect(textsOf('Mañana por la mañana, o esta mañana; la de mañana')).toEqual(['15 March 2025', '14 March 2025'])
  })

  it('read weekdays without last or next by what the sentence speaks of', () => {
    expect(textsOf('I met her on Monday. I will see her on Monday.')).toEqual(['10 March 2025', '17 March 2025'])
    expect(textsOf('El lunes estuve allí. El lunes iremos todos.')).toEqual(['10 March 2025', '17 March 2025'])
    expect(textsOf('See you on Friday!')).toEqual(['21 March 2025'])
  })

  it('come in the order of the text, each once, whatever the form of the letters', () => {
    expect(textsOf('last year, yesterday, ayer and last year')).toEqual(['2024', '13 March 2025'])
    expect(textsOf('man\u0303ana')).toEqual(['15 March 2025'])
  })

  it('cross months and years', () => {
    expect(textsOf('yesterday, last month', Date.UTC(2024, 2, 1))).toEqual(['29 February 2024', 'February 2024'])
    expect(textsOf('last month, last week', Date.UTC(2025, 0, 3))).toEqual([
      'December 2024',
      'week of 27 December 2024',
    ])
    expect(textsOf('3 months ago', Date.UTC(2025, 4, 31))).toEqual(['February 2025'])
  })

  it('count on the clock of the writer', () => {
    const at = Date.parse('2025-03-14T23:30:00Z')
    expect(textsOf('yesterday', dayOf(at, null))).toEqual(['13 March 2025'])
    expect(textsOf('yesterday', dayOf(at, 60))).toEqual(['14 March 2025'])
    expect(textsOf('yesterday', dayOf(Date.parse('2025-03-14T03:00:00Z'), -300))).toEqual(['12 March 2025'])
    expect(dayOf(-1, 0)).toBe(-DAY_MS)
  })

  it('never throw, whatever words come together', () => {
    const pieces = fc.constantFrom(
      'last',
      'next',
      'on',
      'ago',
      '3',
      'days',
      'Friday',
      'mañana',
      'la',
      'hace',
      'in',
      'May',
      ' ',
    )
    const day = fc.integer({ min: -100_000, max: 100_000 }).map(days => days * DAY_MS)
    fc.assert(
      fc.property(fc.array(pieces), day, (words, day) => {
        expect(relativeDates(words.join(' '), day).join()).not.toMatch(/undefined|NaN/)
      }),
    )
  })

  it('take no longer the longer a text repeats itself', () => {
    expect(textsOf('a '.repeat(50_000))).toEqual([])
    expect(textsOf('mañana '.repeat(50_000))).toEqual(['15 March 2025'])
    expect(textsOf('on Friday '.repeat(5_000))).toEqual(['7 March 2025'])
    expect(textsOf(`last${' '.repeat(200_000)}x`)).toEqual([])
  })
})

async function datesOf(records: readonly object[]) {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  const { conversations } = await readAll([fileOf('a.jsonl', text)], { format: 'jsonl' })
  return conversations.flatMap(resolvedDates)
}

describe('the dates that messages speak of', () => {
  it('count from the day of each message on its own clock, in mixed zones', async () => {
    const text = 'today'
    expect(
      await datesOf([
        { at: '2025-03-14T23:30:00Z', text },
        { at: '2025-03-15T00:40:00+01:00', text },
        { at: '2025-03-14T18:50:00-05:00', text },
      ]),
    ).toEqual([['14 March 2025'], ['15 March 2025'], ['14 March 2025']])
  })

  it('count from the day of the session where a message has no time, and from none where nothing has', async () => {
    expect(
      await datesOf([
        { session: 's1', at: '2025-03-14T10:00:00Z', text: 'x' },
        { session: 's1', text: 'yesterday' },
        { session: 's2', text: 'yesterday' },
      ]),
    ).toEqual([[], ['13 March 2025'], []])
  })
})

describe('a message', () => {
  it.each([
    'We moved in June.',
    'It was 12 March.',
    'See you at 10:30',
    'We met in 2019.',
    'Three weeks ago.',
    'Lunes a las tres',
    'Fue en marzo',
    'Hace dos años',
    'on Tuesdays',
    'It took three weeks.',
    'Duró dos semanas.',
    'el sábado',
  ])('%s: says a time', text => expect(saysTime(text)).toBe(true))
  it.each(['We may march on.', 'The barn is red.', 'I have 3 cats.', 'El granero es rojo.'])('%s: says none', text =>
    expect(saysTime(text)).toBe(false),
  )
})
