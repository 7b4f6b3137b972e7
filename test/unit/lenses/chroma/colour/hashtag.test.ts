import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normaliseHashtag } from '../../../../../src/lenses/chroma/colour/hashtag.ts'
import { ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import { thrownBy } from './colour-world.ts'

describe('a hashtag has one spelling (CQ-012)', () => {
  it.each([
    ['Python', '#python'],
    ['  #ASYNC ', '#async'],
    ['##typing', '#typing'],
    ['C#', '#c#'],
    ['Cafe\u0301', '#caf\u00e9'],
    ['v3.13', '#v3.13'],
    ['x'.repeat(100), `#${'x'.repeat(100)}`],
    ['🦊'.repeat(100), `#${'🦊'.repeat(100)}`],
  ])('%s is %s', (given, expected) => {
    expect(normaliseHashtag(given)).toBe(expected)
  })

  it.each([
    ...[
      '',
      '   ',
      '#',
      ' ## ',
      'two words',
      '# spaced',
      'tab\there',
      'nul\0',
      'half\ud800',
      'x'.repeat(101),
      '🦊'.repeat(101),
    ],
    ...[7, null, undefined, true, ['#a'], { tag: 'a' }],
  ])('%j is none', given => {
    const error = thrownBy(() => normaliseHashtag(given))
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'hashtags' } })
  })

  it('and normalising twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), text => {
        let once: string
        try {
          once = normaliseHashtag(text)
        } catch {
          return
        }
        expect(normaliseHashtag(once)).toBe(once)
      }),
    )
  })
})
