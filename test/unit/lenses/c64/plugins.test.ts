import { describe, expect, it } from 'vitest'
import { extractNumbers } from '../../../../src/lenses/c64/enrichment/numbers.ts'
import type { EnrichmentPlugin, EnrichmentResult } from '../../../../src/lenses/c64/enrichment/plugin.ts'
import { KERNAL, OPCODES, REGISTERS, UNDOCUMENTED } from '../../../../src/lenses/c64/facts/facts.ts'
import { builtInPlugins, C64_NUMBERS } from '../../../../src/lenses/c64/plugins.ts'

const plugin = (name: string, options = {}): EnrichmentPlugin =>
  builtInPlugins(options).find(one => one.name === name) as EnrichmentPlugin
const run = (plugin: EnrichmentPlugin, query: string): EnrichmentResult =>
  plugin.enrich({ query, numbers: extractNumbers(query, C64_NUMBERS) })
const linesOf = (plugin: EnrichmentPlugin) => (query: string) => run(plugin, query).additionalContext
const tagsOf = (plugin: EnrichmentPlugin) => (query: string) => run(plugin, query).filterTags

describe('number', () => {
  const lines = linesOf(plugin('number'))
  const tags = tagsOf(plugin('number'))

  it.each([
    ['$D418', ['$D418 = 54296']],
    ['$d418', ['$d418 = 54296']],
    ['53280', ['53280 = $D020']],
    ['14', ['14 = $0E / %00001110']],
    ['%11', ['%11 = $03 / 3']],
    ['0b11', ['0b11 = $03 / 3']],
    ['0xD020', ['0xD020 = $D020 / 53280']],
    ['&D020', ['&D020 = $D020 / 53280']],
    ['D020h', ['D020h = $D020 / 53280']],
    ['$D02', ['$D02 = $0D02 / 3330']],
    ['#$0E', ['$0E = 14 / %00001110']],
    ['53,280', ['53,280 = $D020']],
    ['$1000-2000', ['$1000 = 4096', '2000 = $2000 / 8192']],
    ['what is at 49200', ['49200 = $C030']],
    ['16 colours in 1982', []],
  ])('says of %s: %j (EN-028)', (query, expected) => {
    expect(lines(query)).toEqual(expected)
  })

  it.each([
    ['$d020/$D021', ['$D020', '$D021']],
    ['POKE 53280, 14', ['$D020']],
    ['what is at 49200', []],
    ['6502 assembly', []],
    ['LDA $9A', ['$009A']],
    ['POKE 198,0', ['$00C6']],
    ['$9A', []],
  ])('tags %s with %j (EN-029, EN-018)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it.each([
    ['SID voice 1', []],
    ['STA $D020,7', ['$D020 = 53280', '7 = $07 / %00000111']],
    ['poke 646, 1', ['646 = $0286', '1 = $01 / %00000001']],
    ['#5', ['5 = $05 / %00000101']],
    ['A = 5', ['5 = $05 / %00000101']],
    ['voice 1, A=1', ['1 = $01 / %00000001']],
    ['$05', ['$05 = 5 / %00000101']],
  ])('leaves out counts: %s gives %j (EN-030)', (query, expected) => {
    expect(lines(query)).toEqual(expected)
  })
})

describe('mirror', () => {
  it.each([
    ['$D040', ['$D040 is mirror of $D000 (VIC-II SP0X)'], ['$D000']],
    ['$DC10', ['$DC10 is mirror of $DC00 (CIA1 CIAPRA)'], ['$DC00']],
    ['53312', ['$D040 is mirror of $D000 (VIC-II SP0X)'], ['$D000']],
    ['$D7E0', ['$D7E0 is mirror of $D400 (SID FRELO1)'], ['$D400']],
    ['$D000', [], []],
    ['$D03F', [], []],
    ['$D43D', [], []],
  ])('of %s is %j (EN-032, EN-033)', (query, additionalContext, filterTags) => {
    expect(run(plugin('mirror'), query)).toEqual({ additionalContext, filterTags })
  })
})

describe('memory_map', () => {
  it.each([
    ['$D020', ['$D020 → VIC-II Border Color (border color, bits 0-3)']],
    ['what is at 49200', ['$C030 → Upper RAM (4K always visible RAM)']],
    ['14', []],
    ['6502', []],
    ['$FFD2', ['$FFD2 → KERNAL CHROUT (Write a byte to the output channel)']],
    ['$0286', ['$0286 → COLOR (current text colour)']],
    ['$9000', ['$9000 → BASIC Program Area (program text, variables, arrays, strings)']],
    ['$A00C', ['$A00C → BASIC ROM STMDSP (statement dispatch table, addresses minus one)']],
    ['$A00D', ['$A00D → BASIC ROM (BASIC interpreter; RAM below it, banked by LORAM)']],
    ['POKE 198,0', ['$00C6 → NDX (characters waiting in the keyboard queue)']],
  ])('says of %s: %j, and tags nothing (EN-034, EN-035)', (query, expected) => {
    const { additionalContext, filterTags } = run(plugin('memory_map'), query)
    expect(additionalContext).toEqual(expected)
    expect(filterTags).toEqual([])
  })
})

describe('color', () => {
  const lines = linesOf(plugin('color'))
  const tags = tagsOf(plugin('color'))

  it.each([
    ['POKE 53280,14', ['14 = Light Blue']],
    ['STA $D016,16', []],
    ['STA $D016,14', []],
    ['border colour 14', ['14 = Light Blue']],
    ['border color $0E', ['$0E = Light Blue']],
    ['EXTCOL 14', ['14 = Light Blue']],
    ['SCROLY 14', []],
    ['POKE 646,1', ['1 = White']],
    ['POKE 55300,2', ['2 = Red']],
    ['$DBE7,2', ['2 = Red']],
    ['$DBE8,2', []],
    ['colour 16', []],
    ['8 colours', []],
  ])('says of %s: %j (EN-037)', (query, expected) => {
    expect(lines(query)).toEqual(expected)
  })

  it('tags the number with its name (EN-037)', () => {
    expect(tags('POKE 53280,14')).toEqual(['LIGHT BLUE'])
  })

  it.each([
    ...['which colour has sprite 3', 'colour of background 1', 'colour bit 3', 'gray 2 colour', 'CIA 2 colour'],
    ...['color in mode #4', 'colour: voice-3', 'Sprite 3 color'],
  ])('sees no colour number in "%s" (EN-038)', query => {
    expect(lines(query)).toEqual([])
  })

  it('sees a number that is an index once and a colour once (EN-038)', () => {
    expect(lines('sprite 3 in colour 3')).toEqual(['3 = Cyan'])
  })

  it.each([
    ['light blue text', ['LIGHT BLUE']],
    ['LIGHT_BLUE', ['LIGHT BLUE']],
    ['light-blue and blue', ['LIGHT BLUE', 'BLUE']],
    ['gray 2 background', ['GREY']],
    ['Dark Gray', ['DARK GREY']],
    ['grey_1', ['DARK GREY']],
    ['pink', ['LIGHT RED']],
    ['turquoise', ['CYAN']],
    ['bluebird', []],
  ])('finds names: %s gives %j (EN-039)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })
})

describe('opcode', () => {
  const tags = tagsOf(plugin('opcode'))

  it.each([
    ['LDA $D020', []],
    ['LDA 49200', []],
    ['LDA ($FB),Y', ['LDA']],
    ['LDA in 1982', ['LDA']],
    ['LDA of the 6502', ['LDA']],
  ])('is silent beside an address: %s gives %j (EN-040)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
    expect(linesOf(plugin('opcode'))(query)).toEqual([])
  })

  it.each([
    ['LDA STA indirect indexed', ['LDA', 'STA']],
    ['HOW TO LOAD AND SAVE', []],
    ['WHICH BIT', []],
    ['WHICH JSR', ['JSR']],
    ['LDA AND STA', ['LDA', 'AND', 'STA']],
    ['AND OPCODE', ['AND']],
    ['HOW DOES AND #$0F WORK', ['AND']],
    ['what does AND do', ['AND']],
    ['AND', ['AND']],
    ['$ADC0 ADCX', []],
  ])('in capitals: %s gives %j (EN-041)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it.each([
    ['lda #$00', ['LDA']],
    ['lda#$00', ['LDA']],
    ['lda$9a', ['LDA']],
    ['and#%11', ['AND']],
    ['lda($fb),y', ['LDA']],
    ['sta$d020', []],
    ['lda #5', ['LDA']],
    ['lda #%11', ['LDA']],
    ['lda ($fb),y', ['LDA']],
    ['lda vs ldx', ['LDA', 'LDX']],
    ['lda', []],
    ['lda opcode', ['LDA']],
    ['lda in machine language', ['LDA']],
    ['rock and roll bit', []],
    ['and #$0f', ['AND']],
    ['bit instruction', ['BIT']],
    ['the bit of an instruction', []],
    ['6502 tax', []],
    ['tax opcode', ['TAX']],
  ])('in small letters: %s gives %j (EN-042)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it.each([
    ['SLO undocumented opcode', ['SLO']],
    ['slo undocumented opcode', ['SLO']],
    ['slo', []],
    ['ASO', ['SLO']],
    ['slo $9a', ['SLO']],
    ['lax', []],
    ['illegal opcode lax', ['LAX']],
    ['6502: kil, jam and hlt', ['JAM']],
    ['DOES LAX HELP', []],
    ['KIL', ['JAM']],
    ['NOP', ['NOP']],
  ])('undocumented: %s gives %j (EN-043)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it('knows every mnemonic in capitals (EN-041, EN-043)', () => {
    for (const { mnemonic } of [...OPCODES, ...UNDOCUMENTED]) expect(tags(mnemonic)).toEqual([mnemonic])
    expect(OPCODES).toHaveLength(56)
  })
})

describe('register', () => {
  const tags = tagsOf(plugin('register'))

  it.each([
    ['extcol', ['EXTCOL']],
    ['EXTCOL BGCOL0', ['EXTCOL', 'BGCOL0']],
    ['raster interrupt', []],
    ['raster register', ['RASTER']],
    ['register raster', ['RASTER']],
    ['the RASTER value', ['RASTER']],
    ['RASTER', ['RASTER']],
    ['RASTER INTERRUPT', []],
    ['RASTER REGISTER', ['RASTER']],
    ['random numbers', []],
    ['random register', ['RANDOM']],
    ['raster, register', []],
  ])('%s gives %j (EN-044)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it('knows all 108 in any case (EN-044)', () => {
    expect(REGISTERS).toHaveLength(108)
    for (const { name } of REGISTERS.filter(each => !['RASTER', 'RANDOM'].includes(each.name))) {
      expect(tags(`what is ${name}`)).toEqual([name])
      expect(tags(`what is ${name.toLowerCase()}`)).toEqual([name])
    }
  })

  it.each([
    ['m0x', ['SP0X']],
    ['OSC3', ['RANDOM']],
    ['vic_ctrl1', ['SCROLY']],
    ['EC', ['EXTCOL']],
    ['ec', []],
    ['cr1', ['SCROLY']],
    ['irr', []],
  ])('by another name: %s gives %j (EN-045)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it.each([
    ['ICR timer interrupt', ['CIAICR', 'CI2ICR']],
    ['CIA2 ICR flags', ['CI2ICR']],
    ['CIA 2 ICR', ['CI2ICR']],
    ['CIA #1 ICR', ['CIAICR']],
    ['CIA1 and CIA2 ICR', ['CIAICR', 'CI2ICR']],
    ['icr', []],
    ['cia icr', ['CIAICR', 'CI2ICR']],
    ['cia2 icr', ['CI2ICR']],
    ['CIA2 TODSEC', ['TO2SEC']],
    ['CIA1 CIA2 TODSEC', ['TODSEC']],
    ['todmin', ['TODMIN']],
  ])('by a name that both CIA chips share: %s gives %j (EN-046)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })
})

describe('tag', () => {
  const tags = tagsOf(plugin('tag'))

  it.each([
    ['CHROUT', ['CHROUT']],
    ['chrout', ['CHROUT']],
    ['BSOUT', ['CHROUT']],
    ['load the screen quickly', []],
    ['LOAD the screen', ['LOAD']],
    ['LOAD THE SCREEN', []],
    ['LOAD AFTER SETLFS', ['LOAD', 'SETLFS']],
    ['setlfs then load', ['SETLFS']],
    ['kernal load routine', ['LOAD']],
    ['the kernel: open', ['OPEN']],
    ['jsr plot', ['PLOT']],
    ['STOP', ['STOP']],
  ])('%s gives %j (EN-047)', (query, expected) => {
    expect(tags(query)).toEqual(expected)
  })

  it('knows the 39 labels and their aliases (EN-047)', () => {
    expect(KERNAL).toHaveLength(39)
    for (const { label, aliases } of KERNAL) {
      for (const name of [label, ...aliases]) expect(tags(`how does ${name} work`)).toEqual([label])
    }
  })
})

describe('name_address', () => {
  it.each([
    ['EXTCOL', ['EXTCOL = $D020 (VIC-II)'], ['$D020']],
    ['CHROUT', ['CHROUT = $FFD2 (KERNAL)'], ['$FFD2']],
    ['EXTCOL at $D020', [], []],
    ['EXTCOL at 53280', [], []],
    // Also a routine in ROM at $E50A.
    ['kernal PLOT', ['PLOT = $FFF0 (KERNAL)'], ['$FFF0']],
    ['$D020', [], []],
  ])('%s gives %j and %j (EN-048)', (query, additionalContext, filterTags) => {
    expect(run(plugin('name_address'), query)).toEqual({ additionalContext, filterTags })
  })

  it('names what is at an address when asked to (EN-049)', () => {
    const tags = tagsOf(plugin('name_address', { expandAddresses: true }))
    expect(tags('$D020 and JSR $FFD2')).toEqual(['EXTCOL', 'CHROUT'])
    expect(tags('$C000')).toEqual([])
  })
})
