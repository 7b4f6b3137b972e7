import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHIPS, kernalAt, mirroredAddress, placeAt, registerAt } from '../../../../src/lenses/c64/facts/facts.ts'

describe('mirrors', () => {
  it('are those of the four chips (EN-031)', () => {
    const ranges = CHIPS.map(({ chip, regionStart, regionEnd, registerCount, mirrorPeriod }) =>
      [chip, regionStart, regionEnd, registerCount, mirrorPeriod].join(' '),
    )
    expect(ranges).toEqual([
      'VIC-II $D000 $D3FF 47 64',
      'SID $D400 $D7FF 29 32',
      'CIA1 $DC00 $DCFF 16 16',
      'CIA2 $DD00 $DDFF 16 16',
    ])
  })

  it.each([
    [0xd040, 0xd000],
    [0xd7e0, 0xd400],
    [0xdcff, 0xdc0f],
    [0xddf0, 0xdd00],
    [0xd03f, null],
    [0xd43d, null],
    [0xd000, null],
    [0xcfff, null],
    [0xd800, null],
    [0xde00, null],
  ])('of %i lead to %j (EN-032)', (address, canonical) => {
    expect(mirroredAddress(address)).toBe(canonical)
  })

  it('always lead to a register that is none (EN-032)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), address => {
        const canonical = mirroredAddress(address)
        if (canonical === null) return
        expect(registerAt(canonical)).not.toBeNull()
        expect(registerAt(address)).toBeNull()
        expect(mirroredAddress(canonical)).toBeNull()
      }),
    )
  })
})

describe('the memory map', () => {
  it.each([
    [0xd020, 'VIC-II Border Color', 'border color, bits 0-3'],
    [0xffd2, 'KERNAL CHROUT', 'Write a byte to the output channel'],
    [0x0286, 'COLOR', 'current text colour'],
    [0x9000, 'BASIC Program Area', 'program text, variables, arrays, strings'],
    // Inside of the stack, but narrower.
    [0x010b, 'BAD', 'tape read error log'],
    [0x0140, 'STACK', 'processor stack'],
    [0xa000, 'BASIC ROM BASICCOLD', 'basic cold start vector word, $E394'],
    [0xa001, 'BASIC ROM', 'BASIC interpreter; RAM below it, banked by LORAM'],
    [0xc123, 'Upper RAM', '4K always visible RAM'],
    [0xdc10, 'CIA1 Mirrors', 'repeat of $DC00-$DC0F'],
    [0xde00, 'I/O Expansion 1', 'cartridge port I/O1 line'],
    [0xdfff, 'I/O Expansion 2', 'cartridge port I/O2 line'],
    [0xfffe, 'Hardware Vectors', 'NMI, RESET and IRQ vectors'],
  ])('has at %i: %s (%s) (EN-035)', (address, title, summary) => {
    expect(placeAt(address)).toMatchObject({ title, summary })
  })

  it('has something at every address (EN-036)', () => {
    const nowhere = Array.from({ length: 0x10000 }, (_, address) => placeAt(address)).filter(
      ({ title, summary }) => title === 'Memory' || title === '' || summary === '',
    )
    expect(nowhere).toEqual([])
  })

  it('has 39 routines in the jump table (EN-035)', () => {
    const routines = Array.from({ length: 0x10000 }, (_, address) => kernalAt(address)).filter(found => found !== null)
    expect(routines).toHaveLength(39)
    expect(kernalAt(0xffd2)?.label).toBe('CHROUT')
  })
})
