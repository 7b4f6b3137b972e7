import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seal, unseal } from '../../../src/base/sealed.ts'

describe('a sealed text', () => {
  it('opens under the same secret and binding, and is the same bytes each time', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (secret, binding, text) => {
        const sealed = seal(secret, binding, text)
        expect(sealed).toMatch(/^[\w-]+$/)
        expect(seal(secret, binding, text)).toBe(sealed)
        expect(unseal(secret, binding, sealed)).toBe(Buffer.from(text).toString())
      }),
    )
  })

  it('opens under no other, nor when any character of it was changed, cut off or added', () => {
    const sealed = seal('secret', 'binding', 'what was shown last')
    expect(unseal('other', 'binding', sealed)).toBeNull()
    expect(unseal('secret', 'other', sealed)).toBeNull()
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A'
      expect(unseal('secret', 'binding', sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeNull()
      expect(unseal('secret', 'binding', sealed.slice(0, at))).toBeNull()
    }
    for (const more of ['A', '=', ' ', '!']) expect(unseal('secret', 'binding', sealed + more)).toBeNull()
  })

  it('shows nothing of the text, and little text differences change all of it', () => {
    const [a, b] = ['score 0.71', 'score 0.72'].map(text => seal('secret', 'binding', text))
    expect(Buffer.from(a as string, 'base64url').toString('latin1')).not.toContain('score')
    expect((a as string).slice(0, 16)).not.toBe((b as string).slice(0, 16))
  })
})
