import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isStorable, storableText } from '../../../src/base/storable.ts'

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
