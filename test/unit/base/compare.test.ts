import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText } from '../../../src/base/compare.ts'

describe('compareText', () => {
  it('orders as the UTF-8 bytes do', () => {
    const texts = fc.string({
      unit: fc.constantFrom('a', 'b', '\u0000', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '🦊'),
    })
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
  })

  it('differs from < beyond U+FFFF', () => {
    expect('\u{10000}' < '\uffee').toBe(true)
    expect(compareText('\u{10000}', '\uffee')).toBeGreaterThan(0)
    expect(compareText('ab', 'a')).toBeGreaterThan(0)
    expect(compareText('', '')).toBe(0)
  })
})
