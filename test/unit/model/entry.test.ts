import { describe, expect, it } from 'vitest'
import { embeddedText } from '../../../src/model/entry.ts'

function embedded(title: string, content: string, headings: readonly string[] = []): string {
  return embeddedText({ id: 'a', title, content }, { start: 0, end: content.length, headings })
}

describe('the text that a passage is embedded by', () => {
  it.each([
    ['a title stays in front', 'Tides', 'Water rises twice a day.', 'Tides\nWater rises twice a day.'],
    [
      'a title cut off the beginning of the text is left out',
      'Water rises twi…',
      'Water rises twice.',
      'Water rises twice.',
    ],
    [
      'also behind blanks and the mark of a heading',
      'Water rises twi…',
      '\n# Water rises twice.',
      '# Water rises twice.',
    ],
    ['one that was cut off something else stays', 'Water rises twi…', 'The moon.', 'Water rises twi…\nThe moon.'],
    ['a heading stays in front of itself', 'Tides', '# Tides\n\nWater rises.', 'Tides\n# Tides\n\nWater rises.'],
    ['three dots alone stay', '…', 'Water', '…\nWater'],
    ['a title without a text is the text', 'Tides', '', 'Tides'],
    ['without title and text it is the id', '', ' ', 'a'],
  ])('%s', (_, title, content, expected) => {
    expect(embedded(title, content)).toBe(expected)
  })

  it('keeps the headings where the title is left out', () => {
    expect(embedded('Water ri…', 'Water rises.', ['Tides', 'Causes'])).toBe('Tides\nCauses\nWater rises.')
  })

  it('has the title in front of later passages, which do not begin with it', () => {
    const content = 'Water rises twice a day. The moon pulls it.'
    const later = { start: 25, end: content.length, headings: [] }
    expect(embeddedText({ id: 'a', title: 'Water ri…', content }, later)).toBe('Water ri…\nThe moon pulls it.')
  })

  it('depends on the title and the text of the passage alone, however entry and headings share the title', () => {
    expect(embedded('', 'Tides. Water.', ['Tid…'])).toBe(embedded('Tid…', 'Tides. Water.'))
  })
})
