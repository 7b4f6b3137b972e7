import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractNumbers, type ParsedNumber, scanNumbers } from '../../../../src/lenses/c64/enrichment/numbers.ts'
import { C64_NUMBERS } from '../../../../src/lenses/c64/plugins.ts'

/** As the lens takes them from a question. */
const numbers = (query: string) => extractNumbers(query, C64_NUMBERS)
const values = (query: string) => numbers(query).map(({ value }) => value)
const roles = (query: string) => Object.fromEntries(numbers(query).map(({ decimal, role }) => [decimal, role]))

describe('the numbers of a question', () => {
  it('are found once a value, in order, under their first spelling (EN-002)', () => {
    expect(numbers('$D020 53280 $d020').map(({ sourceToken }) => sourceToken)).toEqual(['$D020'])
    expect(numbers('53280 $D020, 14 and $0E').map(({ sourceToken }) => sourceToken)).toEqual(['53280', '14'])
    expect(numbers('$0E 53280 14')[0]?.at).toEqual([0, 10])
  })

  it('have every form, binary only for a byte (EN-003, EN-004)', () => {
    const forms = { sourceToken: '14', value: 14, decimal: '14', hex: '$0E', binary: '%00001110' }
    expect(numbers('14')).toEqual([{ ...forms, role: 'value', at: [0] }])
    expect(numbers('53280')[0]).toMatchObject({ hex: '$D020', decimal: '53280' })
    expect(numbers('53280')[0]).not.toHaveProperty('binary')
    expect(['255', '256', '0'].map(text => numbers(text)[0]?.hex)).toEqual(['$FF', '$0100', '$00'])
    expect(numbers('255')[0]?.binary).toBe('%11111111')
  })

  it.each([
    ['#$0E', [14]],
    ['<$D020', [53280]],
    ['>$D020', [53280]],
    ['($FB),Y', [251]],
    ['$D02', [3330]],
    ['$d020/$D021', [53280, 53281]],
    ['$0,$1', [0, 1]],
    ['a$D020', []],
    ['_$D020', []],
    ['$D020_', []],
    ['$D020x', []],
    ['é$D020', []],
    ['($D020).', [53280]],
    ['sta$d020', [53280]],
    ['lda#$00', [0]],
    ['$D020$D021', [53280, 53281]],
    ['SLO$9A', [154]],
    ['POKE$D020', [53280]],
    ['1THEN$D020', [1, 53280]],
    ['xsta$d020', []],
    ['stay$d020', []],
    ['sta$d020x', []],
  ])('after a dollar sign: %s gives %j (EN-005)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    ['70000', []],
    ['65535', [65535]],
    ['65536', []],
    ['123456', []],
    ['POKE 53280, 14', [53280, 14]],
    ['POKE 53280,14', [53280, 14]],
    ['3.5', []],
    ['v1.2.3', []],
    ['10.0.0.1', []],
    ['costs $1.50', []],
    ['.5', []],
    ['It is 53280.', [53280]],
    ['&12', []],
    ['100$', []],
    ['50%', [50]],
    ['50%11', []],
    ['x14', []],
    ['14x', []],
    ['POKE53280,5:POKE53281,6', [53280, 5, 53281, 6]],
    ['SYS64738', [64738]],
    ['poke1,54', [1, 54]],
    ['PEEK(53270)OR16', [53270, 16]],
    ['PEEK(56334)AND254', [56334, 254]],
    ['FORI=1TO10', [1, 10]],
    ['10 IFA=1THENPOKE53280,0', [10, 1, 53280, 0]],
    ['10PRINT', [10]],
    ['sprite2or3', []],
    ['14top', []],
    ['stepson3', []],
    ['xpoke3', []],
  ])('in decimal: %s gives %j (EN-006)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    ['%11', [3]],
    ['%11010000_00100000', [53280]],
    ['#%1', [1]],
    ['%102', []],
    ['%20', []],
    ['%1__1', []],
    ['%1_', []],
    ['%1111111111111111', [65535]],
    ['%11111111111111111', []],
  ])('after a percent sign: %s gives %j (EN-007)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    ['0xD020', [53280]],
    ['0Xff', [255]],
    ['0xD0200', []],
    ['&FFD2', [65490]],
    ['&FF', []],
    ['R&FFD2', []],
    ['0b1010', [10]],
    ['0b12', []],
    ['&roll', []],
  ])('with other marks: %s gives %j (EN-008)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    ['D020h', [53280]],
    ['0D020h', [53280]],
    ['0Ah', [10]],
    ['FFFFh', []],
    ['beach', []],
    ['24h', []],
    ['D0h', []],
  ])('with a trailing h: %s gives %j (EN-009)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    ['$D800-$DBE7', [55296, 56295]],
    ['$D000-D02E', [53248, 53294]],
    ['$D000–D02E?', [53248, 53294]],
    ['$00-FF', [0, 255]],
    ['$800-1000', [2048, 4096]],
    ['$F0-100.', [240, 256]],
    ['$F0-10000', [240, 10000]],
    ['53248-53294', [53248, 53294]],
    ['STA $D020-1,X', [53280, 1]],
    ['$D000-D02', [53248]],
  ])('in a range: %s gives %j (EN-010)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  it.each([
    '$D0200',
    'D020 border',
    'SP0X',
    '2026-02-24',
    '2026-02-24T12:30:00Z',
    '12:30',
    '12:30:15',
    '99999',
    'SYS99999',
  ])('are none in %s (EN-011)', query => {
    expect(values(query)).toEqual([])
  })

  it.each([
    ['1,000', [1000]],
    ['53,280', [53280]],
    ['DATA 169,147', [169, 147]],
    ['DATA 1,000', [1, 0]],
    ['poke 1,000', [1, 0]],
    ['.byte 1,000', [1, 0]],
    ['data 1,000', [1, 0]],
    ['how much data is in 1,000 bytes', [1000]],
    ['70,000', [70, 0]],
    ['0,100', [0, 100]],
    ['1,000,50', [1, 0, 50]],
    ['1, 000', [1, 0]],
  ])('with commas: %s gives %j (EN-012)', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })
})

describe('the role of a number', () => {
  it('is the highest that any of its spellings has (EN-013)', () => {
    expect(roles('in 1984: POKE 1984,1')).toEqual({ 1984: 'address', 1: 'value' })
    expect(roles('1024 bytes from 1024')).toEqual({ 1024: 'address' })
    expect(roles('what is at 49200, 49200 bytes')).toEqual({ 49200: 'candidate' })
  })

  it.each([
    ['54296', { 54296: 'address' }],
    ['POKE 53280, 14', { 53280: 'address', 14: 'value' }],
    ['SYS 64738', { 64738: 'address' }],
    ['sys(49200)', { 49200: 'address' }],
    ['PEEK (49200)', { 49200: 'address' }],
    ['WAIT 49200', { 49200: 'address' }],
    ['USR 49200', { 49200: 'address' }],
    ['POKE53280,14', { 53280: 'address', 14: 'value' }],
    ['SYS49200', { 49200: 'address' }],
    ['PEEK(49200)OR16', { 49200: 'address', 16: 'value' }],
    ['POKE1,54', { 1: 'address', 54: 'value' }],
    ['10 IFA=1THENPOKE49200', { 10: 'value', 1: 'value', 49200: 'address' }],
    ['lda$9a', { 154: 'address' }],
    ['spoke 49200', { 49200: 'candidate' }],
    ['49200,7', { 49200: 'address', 7: 'value' }],
    ['49200, 300', { 49200: 'candidate', 300: 'candidate' }],
    ['&C030', { 49200: 'address' }],
    ['%1100000000110000', { 49200: 'address' }],
    ['0xC030 C030h', { 49200: 'address' }],
    // A register, its mirror, an entry of the jump table, the start of a location and of a region.
    ['53312', { 53312: 'address' }],
    ['65490', { 65490: 'address' }],
    ['646', { 646: 'address' }],
    ['49152', { 49152: 'address' }],
    ['2048', { 2048: 'address' }],
  ])('of %s is %j (EN-014)', (query, expected) => {
    expect(roles(query)).toEqual(expected)
  })

  it.each([
    ['6502 assembly', { 6502: 'prose' }],
    ['SID 6581 and 8580', { 6581: 'prose', 8580: 'prose' }],
    ['1024 bytes', { 1024: 'prose' }],
    ['POKE 1024,1', { 1024: 'address', 1: 'value' }],
    ['POKE 6502,1', { 6502: 'address', 1: 'value' }],
    ['6502,1', { 6502: 'prose', 1: 'value' }],
    ['POKE 53280,64', { 53280: 'address', 64: 'value' }],
    ['POKE 198,128', { 198: 'address', 128: 'value' }],
    ['the 64', { 64: 'prose' }],
    ['#64 and A = 128', { 64: 'value', 128: 'value' }],
    ['1541, 64', { 1541: 'prose', 64: 'prose' }],
    ['in 1982 and 2039', { 1982: 'prose', 2039: 'prose' }],
    ['2040 1969', { 2040: 'address', 1969: 'candidate' }],
    ['POKE 2023,1', { 2023: 'address', 1: 'value' }],
    ['1,000', { 1000: 'prose' }],
    ['53,280', { 53280: 'address' }],
    ['POKE 53280,16 colours', { 53280: 'address', 16: 'value' }],
  ])('of %s is %j (EN-015)', (query, expected) => {
    expect(roles(query)).toEqual(expected)
  })

  it.each([
    ...['16 colours', '8-bit', '50%', '50 %', '20 ms', '985 kHz', '3 voices', '25 ROWS', '1 byte', '60 Hz', '7 disks'],
    ...['40 columns', '2 cycles', '320 pixels', '8 sprites', '3 times', '5 minutes', '16 characters', '4 keys', '9 k'],
  ])('of the number in "%s" is prose (EN-016)', query => {
    expect(Object.values(roles(query))).toEqual(['prose'])
  })

  it.each(['line 7', '7 line', '7 row', '14 colour', '3 sprite', '16 bitmaps'])(
    'of the number in "%s" is a value (EN-016)',
    query => {
      expect(Object.values(roles(query))).toEqual(['value'])
    },
  )

  it('is candidate for any other decimal above 255 (EN-017)', () => {
    expect(roles('what is at 49200')).toEqual({ 49200: 'candidate' })
    expect(roles('what is 14')).toEqual({ 14: 'value' })
  })

  it.each([
    ['LDA $9A', { 154: 'address' }],
    ['lda $9a', { 154: 'address' }],
    ['lda 154', { 154: 'address' }],
    ['STA ($FB),Y', { 251: 'address' }],
    ['LDA($FB),Y', { 251: 'address' }],
    ['and($fb),y', { 251: 'address' }],
    ['sta( 251 ),y', { 251: 'address' }],
    ['bit(7)', { 7: 'value' }],
    ['INC 198', { 198: 'address' }],
    ['slo $9a', { 154: 'address' }],
    ['POKE 198,0', { 198: 'address', 0: 'value' }],
    ['$009A', { 154: 'address' }],
    ['zero page $9A', { 154: 'address' }],
    ['zp 154', { 154: 'address' }],
    ['$9A', { 154: 'value' }],
    ['LDA #$9A', { 154: 'value' }],
    ['zero page and #$9A', { 154: 'value' }],
    ['PEEK(56320) AND 15', { 56320: 'address', 15: 'value' }],
    ['which BIT 7', { 7: 'value' }],
    ['bit 7 and 5', { 7: 'value', 5: 'value' }],
  ])('of a byte in %s is %j (EN-018)', (query, expected) => {
    expect(roles(query)).toEqual(expected)
  })
})

describe('extraction, whatever the text', () => {
  const pieces = fc.constantFrom(
    ...['$', '%', '&', '0x', '0b', 'h', '#', '-', ',', '.', ':', ' ', '_', '(', 'POKE', 'lda', 'D020', '11', '1,000'],
    ...['7', '53280', '2026-02-24', '\n', 'é', '💾', ' bytes', '000', 'zp ', 'F'],
  )
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(pieces, { maxLength: 30 }).map(parts => parts.join('')),
  )

  it('stays in bounds, in order, and spells what it found (EN-002, EN-003, EN-004)', () => {
    fc.assert(
      fc.property(text, query => {
        const found = numbers(query)
        const starts = found.map(({ at }) => at?.[0] ?? -1)
        expect(starts).toEqual([...starts].sort((a, b) => a - b))
        expect(new Set(found.map(({ value }) => value)).size).toBe(found.length)
        for (const { value, sourceToken, decimal, hex, binary, at } of found) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(65535)
          expect(query.startsWith(sourceToken, at?.[0])).toBe(true)
          expect(Number(decimal)).toBe(value)
          expect(Number.parseInt(hex.slice(1), 16)).toBe(value)
          expect(hex).toMatch(value > 255 ? /^\$[0-9A-F]{4}$/ : /^\$[0-9A-F]{2}$/)
          if (value > 255) expect(binary).toBeUndefined()
          else expect(binary).toMatch(/^%[01]{8}$/)
        }
      }),
    )
  })

  it('finds the same values again in the forms it gives (EN-002)', () => {
    fc.assert(
      fc.property(text, query => {
        const found = numbers(query)
        const again = (form: (number: ParsedNumber) => string) => values(found.map(form).join(' '))
        const expected = found.map(({ value }) => value)
        expect(again(({ hex }) => hex)).toEqual(expected)
        expect(again(({ decimal }) => decimal)).toEqual(expected)
        expect(again(({ binary, hex }) => binary ?? hex)).toEqual(expected)
      }),
    )
  })

  it('finds occurrences that do not overlap (EN-002)', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (query, separate) => {
        const found = scanNumbers(query, { ...C64_NUMBERS, commasSeparate: () => separate })
        expect(found.every(({ start }, index) => index === 0 || start >= (found[index - 1]?.end ?? 0))).toBe(true)
        expect(found.every(({ token, start, end }) => query.slice(start, end) === token)).toBe(true)
      }),
    )
  })

  it('gives the same twice, frozen (EN-020)', () => {
    fc.assert(
      fc.property(text, query => {
        const found = numbers(query)
        expect(numbers(query)).toEqual(found)
        expect(Object.isFrozen(found) && found.every(number => Object.isFrozen(number))).toBe(true)
      }),
    )
  })

  it('reads a long text in one go (EN-002)', () => {
    const long = '$D0 %1_1 1,000 0x '.repeat(20_000)
    expect(numbers(long)).toHaveLength(3)
    expect(numbers('1'.repeat(100_000))).toEqual([])
    expect(numbers('1,000'.repeat(20_000)).length).toBeGreaterThan(0)
  })
})
