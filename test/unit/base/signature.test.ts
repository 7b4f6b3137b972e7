import { expect, it } from 'vitest'
import { isSigned, sign } from '../../../src/base/sealed.ts'

it('signs as RFC 4231 (test case 2) says', () => {
  const hex = Buffer.from(sign('Jefe', 'what do ya want for nothing?'), 'base64url').toString('hex')
  expect(hex).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})

it('takes its own signature and no other', () => {
  const signature = sign('secret', 'text')
  expect(isSigned('secret', 'text', signature)).toBe(true)
  expect(isSigned('secret', 'texts', signature)).toBe(false)
  expect(isSigned('other', 'text', signature)).toBe(false)
  for (const wrong of ['', signature.slice(1), `${signature}A`, 'ö'.repeat(43)]) {
    expect(isSigned('secret', 'text', wrong)).toBe(false)
  }
})
