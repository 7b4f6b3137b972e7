import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fold } from '../../../src/text/normalise.ts'
import { eachToken, MAX_TERM_LENGTH, type Token, tokenise } from '../../../src/text/tokenise.ts'

/** Terms in order; ~ before an alias, which has the position of the word before it. */
function shown(text: string): string {
  return tokenise(text)
    .map(token => (token.alias ? `~${token.term}` : token.term))
    .join(' ')
}

describe('words', () => {
  it.each([
    ['The cat, the CAT; a cat.', 'the cat the cat a cat'],
    ["don't panic, Alice's book; it’s we'll", 'don panic alice book it we'],
    ["l'homme d'accord rock'n'roll", 'l homme d accord rock n roll'],
    ['a well-known state-of-the-art thing', 'a well known state of the art thing'],
    ['bob@example.com/path?x=1#frag', 'bob example ~examplecom com path x 1 frag'],
    ['Straße Œuvre CANCIÓN naïve İstanbul', 'strasse oeuvre cancion naive istanbul'],
    ['ﬁne ｆｕｌｌ １２ x² Ⅷ', 'fine full 12 x2 viii'],
    ['co\u00adoperate zero\u200bwidth', 'cooperate zerowidth'],
    ['e\u0301te\u0301 été', 'ete ete'],
    ['Привет МИР', 'привет мир'],
    ['שָׁלוֹם', 'שָׁלוֹם'],
    ['', ''],
    [' \u0000 \u0007 -- … 🦊 ', ''],
    ['a\ud800b \udc00', 'a b'],
  ])('%j', (text, terms) => expect(shown(text)).toBe(terms))
})

describe('identifiers: their words, then themselves', () => {
  it.each([
    ['parseQuery', 'parse ~parsequery query'],
    ['parse_query', 'parse ~parsequery query'],
    ['PARSE_QUERY', 'parse ~parsequery query'],
    ['HTTPServer', 'http ~httpserver server'],
    ['URLs and IDs', 'urls and ids'],
    ['utf8Decoder iPhone15Pro', 'utf8 ~utf8decoder decoder i ~iphone15pro phone15 pro'],
    ['__init__ _private', 'init private'],
    ['node.js', 'node ~nodejs js'],
    ['NodeJS', 'node ~nodejs js'],
    ['config.maxRows()', 'config ~configmaxrows max ~maxrows rows'],
    ['C++ and c# but a+b', 'c ~c++ and c ~c# but a b'],
    ['ÉcoleNormale', 'ecole ~ecolenormale normale'],
  ])('%s', (text, terms) => expect(shown(text)).toBe(terms))

  it('leaves encoded data in one piece', () => {
    const base64 = 'aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Qgb2YgbG9uZw'
    expect(tokenise(base64).map(token => token.term)).toEqual([base64.toLowerCase()])
    expect(tokenise('x'.repeat(1000)).map(token => token.term)).toEqual(['x'.repeat(MAX_TERM_LENGTH)])
  })
})

describe('abbreviations with dots: one word, no identifier (QE-003)', () => {
  it.each([
    ['e.g. U.S. end. Start', 'eg us end start'],
    ['Bring fruit, e.g. apples, i.e. no sweets', 'bring fruit eg apples ie no sweets'],
    ['(e.g., this) and e.g: that; i.e something', 'eg this and eg that ie something'],
    ['at 5 p.m. or 7 a.m, U.S.A. and U.S economy', 'at 5 pm or 7 am usa and us economy'],
    ['the U.K.’s, J.R.R. Tolkien, Ph.D. and M.Sc.', 'the uk jrr tolkien phd and msc'],
    ['d.h. und z.B. im U.S.-Markt', 'dh und zb im us markt'],
    ['EX.Y. p.x a.b.c foo.e.g. x.y2.', 'ex ~exy y p ~px x a ~abc b c foo ~fooeg e g x ~xy2 y2'],
    ['e.g.foo I.O.U', 'e ~egfoo g foo i ~iou o u'],
  ])('%s', (text, terms) => expect(shown(text)).toBe(terms))
})

describe('numbers', () => {
  it.each([
    ['3.14 and 1.2.3.', '3.14 and 1.2.3'],
    ['In 1998. Then', 'in 1998 then'],
    ['v1.2.3-beta', 'v1 ~v1.2.3 2 3 beta'],
    ['1_000 50% 1,5', '1 ~1000 000 50 1 5'],
    ['$D020 0xD020 D020 #ff00ff', 'd020 0xd020 ~d020 d020 ff00ff'],
    ['C64 6502 2024-05-01', 'c64 6502 2024 05 01'],
  ])('%s', (text, terms) => expect(shown(text)).toBe(terms))
})

describe('scripts without spaces', () => {
  it.each([
    ['東京都', '東 ~東京 京 ~京都 都'],
    ['カタカナ ひ', 'カ ~カタ タ ~タカ カ ~カナ ナ ひ'],
    ['서울', '서 ~서울 울'],
    ['ไทย', 'ไ ~ไท ท ~ทย ย'],
    ['Tokyo東京2020', 'tokyo 東 ~東京 京 2020'],
  ])('%s', (text, terms) => expect(shown(text)).toBe(terms))
})

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat({ max: 0xffff }), { maxLength: 30 }).map(units => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('a', 'B', '1', '_', '.', "'", 's', '東', '\u0301', '\u00ad', '0x', 'É', ' ', '\ud83d'))
    .map(parts => parts.join('')),
)

describe('any text', () => {
  it('gives folded terms of bounded length at ascending places within it', () => {
    fc.assert(
      fc.property(anyText, text => {
        let before = 0
        for (const { term, start, end } of tokenise(text)) {
          expect(term.length).toBeGreaterThan(0)
          expect(term.length).toBeLessThanOrEqual(MAX_TERM_LENGTH)
          expect(term.isWellFormed()).toBe(true)
          expect(start).toBeLessThan(end)
          expect(end).toBeLessThanOrEqual(text.length)
          expect(start).toBeGreaterThanOrEqual(before)
          before = start
        }
      }),
      { numRuns: 500 },
    )
  })

  it('QE-019: give the same tokens in pieces, wherever these are cut', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }), (text, sizes) => {
        const tokens: Token[] = []
        let at = 0
        for (let piece = 0; at < text.length; piece++) {
          const until = Math.min(text.length, at + (sizes[piece % sizes.length] as number))
          const visit = (term: string, start: number, end: number, alias: boolean) =>
            tokens.push({ term, start, end, alias })
          at = eachToken(text, visit, at, until)
          expect(at).toBeGreaterThanOrEqual(until)
        }
        expect(tokens).toEqual(tokenise(text))
      }),
    )
  })

  it('gives the same words whatever follows a blank', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const together = tokenise(`${one} ${other}`).map(token => token.term)
        expect(together).toEqual([...tokenise(one), ...tokenise(other)].map(token => token.term))
      }),
      { numRuns: 500 },
    )
  })

  it('is read in linear time', () => {
    for (const nasty of [
      'a_'.repeat(100_000),
      'a.'.repeat(100_000),
      "a'".repeat(100_000),
      'aA'.repeat(100_000),
      '1.'.repeat(100_000),
    ]) {
      expect(tokenise(nasty).length).toBeGreaterThan(0)
    }
  })
})

describe('folding', () => {
  it('changes nothing the second time, for any character of the first two planes', () => {
    for (let point = 0; point <= 0x1ffff; point++) {
      const once = fold(String.fromCodePoint(point))
      if (fold(once) !== once) expect(fold(once), `U+${point.toString(16)}`).toBe(once)
    }
  })

  it.each([
    ['Über-Größe', 'uber-grosse'],
    ['ΛΌΓΟΣ λόγος', 'λογοσ λογοσ'],
    ['Łódź Ærø Þór đ', 'lodz aero thor d'],
    ['ñandú', 'nandu'],
  ])('%s', (text, folded) => expect(fold(text)).toBe(folded))
})
