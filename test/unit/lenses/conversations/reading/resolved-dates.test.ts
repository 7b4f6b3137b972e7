import { describe, expect, it } from 'vitest'
import { readAll } from '../../../../../src/lenses/conversations/reading/read.ts'
import { resolvedDates } from '../../../../../src/lenses/conversations/reading/resolved-dates.ts'
import { fileOf, fixtureFiles } from '../../../../support/export-files.ts'

async function datesOf(records: readonly object[]) {
  const text = records.map(record => `${JSON.stringify(record)}\n`).join('')
  const { conversations } = await readAll([fileOf('a.jsonl', text)], { format: 'jsonl' })
  return conversations.flatMap(resolvedDates).map(dates => dates.map(({ text }) => text))
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

  it('are those of the worked example, read from a file', async () => {
    const { conversations } = await readAll(fixtureFiles('records/chat.jsonl'))
    const kiln = conversations.find(({ id }) => id === 'kiln')
    expect(resolvedDates(kiln as never)[1]).toEqual([
      { kind: 'weekend', day: Date.UTC(2025, 2, 8), said: 'last weekend', text: 'weekend of 8 March 2025' },
    ])
  })
})
