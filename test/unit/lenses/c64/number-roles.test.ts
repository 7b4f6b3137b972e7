import { describe, expect, it } from 'vitest'
import { numbers } from './numbers.ts'

const roles = (query: string) => Object.fromEntries(numbers(query).map(({ decimal, role }) => [decimal, role]))

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
