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

  it('lead to the register at the same place of the period, and are none anywhere else (EN-032)', () => {
    const numberOf = (hex: string) => Number.parseInt(hex.slice(1), 16)
    const wrong = Array.from({ length: 0x10000 }, (_, address) => address).filter(address => {
      const chip = CHIPS.find(one => numberOf(one.regionStart) <= address && address <= numberOf(one.regionEnd))
      const place = chip === undefined ? 0 : (address - numberOf(chip.regionStart)) % chip.mirrorPeriod
      const first = chip === undefined || place >= chip.registerCount ? address : numberOf(chip.regionStart) + place
      if (first === address) return mirroredAddress(address) !== null
      return mirroredAddress(address) !== first || registerAt(first) === null || registerAt(address) !== null
    })
    expect(wrong).toEqual([])
    expect([0xdcff, 0xddf0, 0xd43d].map(mirroredAddress)).toEqual([0xdc0f, 0xdd00, null])
  })
})

describe('the memory map', () => {
  it.each([
    // Inside of the stack, but narrower.
    [0x010b, 'BAD', 'tape read error log'],
    [0x0140, 'STACK', 'processor stack'],
    [0xa000, 'BASIC ROM BASICCOLD', 'basic cold start vector word, $E394'],
    [0xa001, 'BASIC ROM', 'BASIC interpreter; RAM below it, banked by LORAM'],
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
