import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { c64Corpus, corpusVersion } from '../../../../src/lenses/c64/corpus.ts'
import { enrich } from '../../../../src/lenses/c64/enrichment/enrich.ts'
import {
  COLORS,
  KERNAL,
  LOCATIONS,
  OPCODES,
  REGISTERS,
  ROUTINES,
  UNDOCUMENTED,
} from '../../../../src/lenses/c64/facts/facts.ts'
import { canonicalTag, tagsFor } from '../../../../src/lenses/c64/names.ts'
import { c64Domain } from '../../../../src/lenses/c64/plugins.ts'

describe('the canonical tag', () => {
  it.each([
    ['light_blue', 'LIGHT BLUE'],
    ['Light-Blue', 'LIGHT BLUE'],
    ['gray', 'GREY'],
    ['gray 1', 'DARK GREY'],
    ['Turquoise', 'CYAN'],
    ['$9a', '$009A'],
    ['$d020', '$D020'],
    ['0xD020', '$D020'],
    [' $D02 ', '$0D02'],
    ['bsout', 'CHROUT'],
    ['m0x', 'SP0X'],
    ['vic_ctrl1', 'SCROLY'],
    ['kil', 'JAM'],
    ['tvsflg', 'PALNTS'],
    ['vic_spr', 'VIC_SPR'],
    ['ICR', 'ICR'],
    ['', ''],
  ])('of %j is %j (EN-050)', (tag, canonical) => {
    expect(canonicalTag(tag)).toBe(canonical)
  })

  it('of a canonical tag is itself (EN-050)', () => {
    const known = [
      ...REGISTERS.flatMap(({ name, aliases }) => [name, ...aliases]),
      ...KERNAL.flatMap(({ label, aliases }) => [label, ...aliases]),
      ...UNDOCUMENTED.flatMap(({ mnemonic, aliases }) => [mnemonic, ...aliases]),
      ...COLORS.flatMap(({ tag, aliases }) => [tag, ...aliases]),
      ...[...LOCATIONS, ...ROUTINES].flatMap(({ label, aliases }) => [label ?? '', ...aliases]),
    ]
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(...known)), tag => {
        expect(canonicalTag(canonicalTag(tag))).toBe(canonicalTag(tag))
      }),
    )
    for (const { name } of REGISTERS) expect(canonicalTag(name)).toBe(name)
    for (const { label } of KERNAL) expect(canonicalTag(label)).toBe(label)
    for (const { mnemonic } of [...OPCODES, ...UNDOCUMENTED]) expect(canonicalTag(mnemonic)).toBe(mnemonic)
    for (const { tag } of COLORS) expect(canonicalTag(tag)).toBe(tag)
  })

  it('of a shared name may be that of either chip (EN-046, EN-051)', () => {
    expect(tagsFor('icr')).toEqual(['ICR', 'CIAICR', 'CI2ICR'])
    expect(tagsFor('TODSEC')).toEqual(['TODSEC', 'TO2SEC'])
    expect(tagsFor('bsout')).toEqual(['CHROUT'])
  })
})

describe('the corpus', () => {
  const corpus = c64Corpus()
  const tagged = (tag: string) => corpus.filter(({ tags }) => tags.includes(tag)).map(({ id }) => id)

  it('has one record a fact (EN-068)', () => {
    const counts = Object.fromEntries(
      [...Map.groupBy(corpus, ({ type }) => type)].map(([type, { length }]) => [type, length]),
    )
    expect(counts).toEqual({
      register: 108,
      kernal: 39,
      opcode: 56 + 21,
      color: 16,
      location: 213,
      io: 39,
      region: 22,
      rom: 241,
      note: 5,
    })
    expect(new Set(corpus.map(({ id }) => id)).size).toBe(corpus.length)
  })

  it('has titles, texts and canonical tags, all of them short (EN-068)', () => {
    for (const { title, text, tags } of corpus) {
      expect(title).not.toMatch(/undefined|null|^\s|\n/)
      expect(text).not.toMatch(/undefined|null|\.\.( |$)|^$|\n/)
      expect(text.length).toBeLessThan(1_800)
      expect(tags.length).toBeGreaterThan(0)
      expect(tags).toEqual([...new Set(tags.map(canonicalTag))].sort())
    }
  })

  it('is found by address and by name (EN-068)', () => {
    expect(tagged('$D020')).toEqual(['c64:register:EXTCOL', 'c64:io:$D020-$D020'])
    expect(tagged('EXTCOL')).toEqual(['c64:register:EXTCOL'])
    expect(tagged('CHROUT')).toEqual(['c64:kernal:CHROUT'])
    expect(tagged('LDA')).toEqual(['c64:opcode:LDA'])
    expect(tagged('LIGHT BLUE')).toEqual(['c64:color:14'])
    expect(tagged('$027A')).toEqual(['c64:location:$0277-$0280'])
    expect(tagged('$AEFD')).toEqual(['c64:rom:$AEFD'])
    expect(tagged('$DF01')).toEqual(['c64:io:$DF01-$DF01'])
    // A BASIC routine of that name must not answer for the jump table entry.
    expect(tagged('STOP')).toEqual(['c64:kernal:STOP'])
    expect(tagged('AND')).toEqual(['c64:opcode:AND'])
  })

  it('has a record for every tag that a name in a question makes (EN-048, EN-068)', () => {
    const names = [...REGISTERS.map(({ name }) => name), ...KERNAL.map(({ label }) => label)]
    const all = new Set(corpus.flatMap(({ tags }) => tags))
    for (const name of [...names, ...OPCODES.map(({ mnemonic }) => mnemonic), ...COLORS.map(({ tag }) => tag)]) {
      const { filterTags } = enrich(`kernal register ${name}`, c64Domain())
      expect(filterTags.length).toBeGreaterThan(0)
      expect(filterTags.filter(tag => !all.has(tag))).toEqual([])
    }
  })

  it('tells the banks where they are chosen (EN-068)', () => {
    expect(corpus.find(({ id }) => id === 'c64:register:CI2PRA')?.text).toContain('11 bank 0 from $0000')
    expect(corpus.find(({ title }) => title.startsWith('R6510'))?.text).toContain('111: $A000 BASIC ROM')
  })

  it('has a version that changes with any fact (EN-068)', () => {
    const [first, ...others] = corpus
    if (first === undefined) throw new Error('the corpus is empty')
    expect(corpusVersion(c64Corpus())).toBe(corpusVersion(corpus))
    expect(corpusVersion([{ ...first, text: `${first.text}!` }, ...others])).not.toBe(corpusVersion(corpus))
  })
})
