/** The registers by address, and the mirrors in which each chip repeats its own. */
import { addressOf, holds, type Range, rangeOf } from './address.ts'
import { CHIPS, REGISTERS, type RegisterFact } from './facts.ts'

interface MirrorRange extends Range {
  readonly registerCount: number
  /** Addresses from one copy of the registers to the next. */
  readonly period: number
}

const RANGES: readonly MirrorRange[] = CHIPS.map(chip => ({
  ...rangeOf({ start: chip.regionStart, end: chip.regionEnd }),
  registerCount: chip.registerCount,
  period: chip.mirrorPeriod,
}))

const BY_ADDRESS: ReadonlyMap<number, RegisterFact> = new Map(
  REGISTERS.map(register => [addressOf(register.address), register]),
)

/** Null where there is none, at mirrors too. */
export function registerAt(address: number): RegisterFact | null {
  return BY_ADDRESS.get(address) ?? null
}

/** The address that this one repeats; null when it is no mirror of a register, or the register itself. */
export function mirroredAddress(address: number): number | null {
  const range = RANGES.find(each => holds(each, address))
  if (range === undefined) return null
  const offset = (address - range.start) % range.period
  const canonical = range.start + offset
  return offset < range.registerCount && canonical !== address ? canonical : null
}
