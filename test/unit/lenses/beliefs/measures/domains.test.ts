/** Domains: their one form, and what lies below what. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWithin, meanEntry, nearestEntry, normaliseDomain } from '../../../../../src/lenses/beliefs/schema/values.ts'

const segment = fc.stringMatching(/^[a-z0-9_-]{1,32}$/)
const path = fc.array(segment, { minLength: 1, maxLength: 5 })

describe('the form of a domain', () => {
  it.each([
    ['Code:Rust', 'code/rust'],
    ['tech', 'tech'],
    ['A/b:C/d:e', 'a/b/c/d/e'],
    ['x_1/y-2', 'x_1/y-2'],
    [`${'a'.repeat(32)}/b`, `${'a'.repeat(32)}/b`],
  ])('of %j is %j (BQ-006)', (input, stored) => {
    expect(normaliseDomain(input)).toBe(stored)
  })

  it.each([
    '',
    '/',
    'a/',
    ':a',
    'a//b',
    'a/:b',
    ' a',
    'a b',
    'a.b',
    'a/b/c/d/e/f',
    'a'.repeat(33),
    'straße',
    // Kelvin sign and dotted I: in lower case they have, or begin with, a Latin letter.
    '\u212Aelvin',
    '\u0130x',
    'a\n',
    'a\0',
    'tech*',
    '../a',
  ])('refuses %j (BQ-006)', input => {
    expect(normaliseDomain(input)).toBeNull()
  })

  it('is found again from any case and separator, and stays as it is (BQ-006)', () => {
    fc.assert(
      fc.property(path, fc.infiniteStream(fc.boolean()), (segments, flips) => {
        const form = segments.join('/')
        const written = Array.from(form, letter => {
          if (!flips.next().value) return letter
          return letter === '/' ? ':' : letter.toUpperCase()
        }).join('')
        expect(normaliseDomain(written)).toBe(form)
        expect(normaliseDomain(form)).toBe(form)
      }),
    )
  })

  it('is the given text in lower case or nothing, for any text (BQ-006, BQ-187)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aB1/:-_', 'é', '.', ' ', '\n'), maxLength: 12 }), text => {
        const form = normaliseDomain(text)
        const whole = /^[a-z0-9_-]+([/:][a-z0-9_-]+){0,4}$/i.test(text)
        expect(form).toBe(whole ? text.toLowerCase().replaceAll(':', '/') : null)
      }),
    )
  })
})

describe('what lies within', () => {
  it.each([
    ['tech', 'tech', true],
    ['tech/ai', 'tech', true],
    ['technology', 'tech', false],
    ['bio/tech', 'tech', false],
    ['tech', 'tech/ai', false],
  ])('%j in %j: %s (BQ-048)', (domain, ancestor, expected) => {
    expect(isWithin(domain, ancestor)).toBe(expected)
  })

  it('is a prefix by whole segments (BQ-048)', () => {
    fc.assert(
      fc.property(path, path, (domain, ancestor) => {
        const expected = ancestor.every((part, i) => domain[i] === part)
        expect(isWithin(domain.join('/'), ancestor.join('/'))).toBe(expected)
        expect(isWithin([...ancestor, ...domain].join('/'), ancestor.join('/'))).toBe(true)
      }),
    )
  })
})

describe('the entry for a domain', () => {
  const entries = new Map([
    ['code', 0.9],
    ['code/rust', 0.3],
    ['medical/oncology', 0.1],
  ])

  it('is its own or its nearest ancestor’s, never a descendant’s (BQ-063)', () => {
    expect(nearestEntry(entries, 'code/rust/async')).toBe(0.3)
    expect(nearestEntry(entries, 'code/python')).toBe(0.9)
    expect(nearestEntry(entries, 'code')).toBe(0.9)
    expect(nearestEntry(entries, 'medical')).toBeUndefined()
    expect(nearestEntry(entries, 'coder')).toBeUndefined()
  })

  it('may be 0, which is an entry (BQ-063)', () => {
    const distrust = new Map([
      ['a', 1],
      ['a/b', 0],
    ])
    expect(nearestEntry(distrust, 'a/b/c')).toBe(0)
  })

  it('is the mean over those query domains that have one (BQ-062, BQ-081)', () => {
    expect(meanEntry(entries, ['code/rust/async', 'code', 'unknown'])).toBeCloseTo(0.6, 12)
    expect(meanEntry(entries, ['unknown'])).toBeNull()
    expect(meanEntry(entries, [])).toBeNull()
  })

  it('is the longest that the domain lies within (BQ-063)', () => {
    const few = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map(parts => parts.join('/'))
    fc.assert(
      fc.property(fc.uniqueArray(few, { maxLength: 8 }), few, (names, domain) => {
        const named = new Map(names.map(name => [name, name]))
        const [longest] = names.filter(name => isWithin(domain, name)).sort((a, b) => b.length - a.length)
        expect(nearestEntry(named, domain)).toBe(longest)
      }),
    )
  })
})
