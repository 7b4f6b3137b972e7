import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hasStorableTexts, isStorable, storableText } from '../../../src/base/storable.ts'

it('repairs what cannot be stored, unit for unit, and nothing else', () => {
  expect(storableText('a\0b\ud83dc🦊')).toBe('a\ufffdb\ufffdc🦊')
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\udd8a', 'é') }), text => {
      const repaired = storableText(text)
      expect(isStorable(repaired)).toBe(true)
      expect(repaired).toHaveLength(text.length)
      expect(repaired === text).toBe(isStorable(text))
    }),
  )
})

it('looks for them in keys and values of any depth, in large lists and in circles', () => {
  const circle: Record<string, unknown> = { text: 'sound' }
  circle['self'] = [circle]
  const deep = JSON.parse(`${'['.repeat(5_000)}"sound"${']'.repeat(5_000)}`) as unknown
  for (const value of ['a', null, 1, circle, deep, Array(300_000).fill('a')]) expect(hasStorableTexts(value)).toBe(true)
  for (const value of ['a\0', { 'a\ud800': 1 }, [[{ a: ['b\0'] }]], [...Array(300_000).fill('a'), '\udc00']]) {
    expect(hasStorableTexts(value)).toBe(false)
  }
})
