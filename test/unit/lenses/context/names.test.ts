import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, foldName, wordsOf } from '../../../../src/lenses/context/names.ts'

describe('names', () => {
  it.each([
    ['AuthService', ['AUTH', 'SERVICE']],
    ['user_auth-service.ts', ['USER', 'AUTH', 'SERVICE', 'TS']],
    ['HTTPServer', ['HTTPSERVER']],
    ['über2Größe', ['ÜBER2GRÖSSE']],
    ['ΣίσυφοςΆλφα', ['ΣΊΣΥΦΟΣ', 'ΆΛΦΑ']],
    ['名前', ['名前']],
    ['$%', []],
  ])('%s is %j (CX-018)', (name, words) => {
    expect(wordsOf(name)).toEqual(words)
  })

  it.each([
    ['STRASSE', 'straße'],
    ['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύς'],
    ['Ａ', 'ａ'],
    ['é', 'e\u0301'.toUpperCase()],
  ])('%s and %s are one name (CX-017)', (a, b) => {
    expect(foldName(a)).toBe(foldName(b))
  })

  it('are folded once and for all', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), text => foldName(foldName(text)) === foldName(text)))
  })

  it.each([
    ['AUTH', 'AUTH', true],
    ['AUT', 'AUTH', true],
    ['AU', 'AUTH', false],
    ['AUTHENTICATION', 'AUTH', true],
    ['AUTHENTICATION', 'AUT', false],
    ['ÄÖÜ', 'ÄÖÜX', true],
    ['AUTH', 'OAUTH', false],
  ])('%s covers %s: %s (CX-019)', (query, name, expected) => {
    expect(covers(query, name)).toBe(expected)
  })
})
