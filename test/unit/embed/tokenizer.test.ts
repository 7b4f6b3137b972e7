import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutText } from '../../../src/embed/embedder.ts'
import { openTokenizer } from '../../../src/embed/tokenizer.ts'
import { modelFolder } from '../../support/model.ts'

const read = (name: string) => JSON.parse(readFileSync(join(modelFolder(), name), 'utf8'))
const files = [read('tokenizer.json'), read('tokenizer_config.json')] as const
const CLS = 101
const SEP = 102

describe('openTokenizer', () => {
  const tokenize = openTokenizer(...files, 256)

  it('gives the ids of the reference', () => {
    expect(tokenize('This is an example sentence')).toEqual([101, 2023, 2003, 2019, 2742, 6251, 102])
  })

  it('gives the special tokens alone for a text without words', () => {
    expect(tokenize('')).toEqual([CLS, SEP])
    expect(tokenize(' \n\t')).toEqual([CLS, SEP])
  })

  it('takes no heed of the truncation and padding that the file itself asks for (128)', () => {
    expect(tokenize('word '.repeat(200)).length).toBe(202)
  })

  it('cuts a long text to the limit and keeps the closing token', () => {
    const ids = tokenize('word '.repeat(5000))
    expect(ids.length).toBe(256)
    expect([ids[0], ids[254], ids[255]]).toEqual([CLS, 2773, SEP])
  })

  it('cuts at exactly the limit: 254 words fit, 255 lose the last', () => {
    expect(tokenize(`${'word '.repeat(253)}end`)).toEqual([CLS, ...Array(253).fill(2773), 2203, SEP])
    expect(tokenize(`${'word '.repeat(254)}end`)).toEqual([CLS, ...Array(254).fill(2773), SEP])
  })

  it('reads no more of a huge text than the limit can use', () => {
    const huge = 'word '.repeat(5_000_000)
    expect(tokenize(huge)).toEqual(tokenize(huge.slice(0, 10_000)))
  })

  it('keeps both special tokens and the limit for any text', () => {
    const small = openTokenizer(...files, 8)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), text => {
        const ids = small(text)
        expect(ids.length).toBeLessThanOrEqual(8)
        expect([ids[0], ids.at(-1)]).toEqual([CLS, SEP])
        const whole = tokenize(text)
        if (whole.length <= 8) expect(ids).toEqual(whole)
        else expect(ids.slice(0, 7)).toEqual(whole.slice(0, 7))
      }),
    )
  })
})

describe('cutText', () => {
  it('cuts at the length, and before a character that the cut would halve', () => {
    expect(cutText('abc', 3)).toBe('abc')
    expect(cutText('abcd', 3)).toBe('abc')
    expect(cutText('ab😀d', 3)).toBe('ab')
    expect(cutText('ab😀d', 4)).toBe('ab😀')
  })

  it('gives a prefix that is well formed if the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, length) => {
        const cut = cutText(text, length)
        expect(text.startsWith(cut)).toBe(true)
        expect(cut.length).toBeLessThanOrEqual(length)
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1)
        expect(cut.isWellFormed()).toBe(true)
      }),
    )
  })
})
