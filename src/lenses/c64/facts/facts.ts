/**
 * Typed facts of the Commodore 64, and which fact belongs to an address. Addresses are texts such as `$D020`, with four upper-case digits.
 */
import colorFile from './data/colors.json' with { type: 'json' }
import kernalFile from './data/kernal.json' with { type: 'json' }
import memoryFile from './data/memory-map.json' with { type: 'json' }
import noteFile from './data/notes.json' with { type: 'json' }
import opcodeFile from './data/opcodes.json' with { type: 'json' }
import registerFile from './data/registers.json' with { type: 'json' }

/** A register of a chip. `genericName`: a name from the data sheet that both CIA chips share. */
export type RegisterFact = (typeof registerFile.registers)[number]
export type KernalFact = (typeof kernalFile.entries)[number]
export type ColorFact = (typeof colorFile.colors)[number]

/** How one instruction is encoded. `cycles`: null where it never ends. */
export interface EncodingFact {
  readonly mode: string
  readonly opcode: string
  readonly bytes: number
  readonly cycles: number | null
  readonly pageCross?: number | undefined
  readonly branchTaken?: number | undefined
}

interface RangeFact {
  readonly start: string
  readonly end: string
}

export const REGISTERS: readonly RegisterFact[] = registerFile.registers
export const CHIPS = registerFile.chips
/** Names of registers that are also ordinary English words. */
export const WORD_LIKE_REGISTERS: readonly string[] = registerFile.englishWordNames
export const KERNAL: readonly KernalFact[] = kernalFile.entries
export const OPCODES = opcodeFile.official
export const UNDOCUMENTED = opcodeFile.undocumented
export const COLORS: readonly ColorFact[] = colorFile.colors
/** Address ranges where a value from 0 to 15 is a colour. */
export const COLOR_RANGES: readonly RangeFact[] = colorFile.meta.contextRanges
export const REGIONS = memoryFile.regions
export const IO_GROUPS = memoryFile.ioGroups
/** Named memory locations. `label`: null where a location is unnamed or unused. */
export const LOCATIONS = memoryFile.locations
export const ROUTINES = memoryFile.romRoutines
/** Facts that belong to no single address. */
export const NOTES = noteFile.notes
/** Memory configurations of the processor. `port01Low3`: bits 2 to 0 of the processor port at address 1. */
export const CPU_BANKING = memoryFile.cpuBanking
/** Memory banks of the video chip. `dd00Low2`: bits 1 and 0 of port A of the second CIA ($DD00). */
export const VIDEO_BANKS = memoryFile.vicBanks

export interface Range {
  readonly start: number
  /** Last address of the range, inclusive. */
  readonly end: number
}

/** The number of an address that is written as a text such as `$D020`. */
export function addressOf(text: string): number {
  return Number.parseInt(text.slice(1), 16)
}

export function rangeOf({ start, end }: RangeFact): Range {
  return { start: addressOf(start), end: addressOf(end) }
}

export function sizeOf({ start, end }: Range): number {
  return end - start + 1
}

export function holds({ start, end }: Range, address: number): boolean {
  return start <= address && address <= end
}

/** Address ranges of the chips. `mirrorPeriod`: number of addresses after which the registers repeat. */
const CHIP_RANGES = CHIPS.map(chip => ({ ...chip, ...rangeOf({ start: chip.regionStart, end: chip.regionEnd }) }))

const BY_ADDRESS: ReadonlyMap<number, RegisterFact> = new Map(
  REGISTERS.map(register => [addressOf(register.address), register]),
)

/** The register at an address; null where there is none. Addresses that mirror a register give null too. */
export function registerAt(address: number): RegisterFact | null {
  return BY_ADDRESS.get(address) ?? null
}

/** The register's address that this address mirrors; null when it is no mirror of a register, or is the register itself. */
export function mirroredAddress(address: number): number | null {
  const range = CHIP_RANGES.find(each => holds(each, address))
  if (range === undefined) return null
  const offset = (address - range.start) % range.mirrorPeriod
  const canonical = range.start + offset
  return offset < range.registerCount && canonical !== address ? canonical : null
}

export interface Place {
  readonly title: string
  readonly summary: string
}

const JUMP_TABLE: ReadonlyMap<number, KernalFact> = new Map(KERNAL.map(entry => [addressOf(entry.address), entry]))

const GROUPS = narrowestFirst(IO_GROUPS.map(group => ({ ...rangeOf(group), ...placeOf(group.title, group.summary) })))

const LABELLED = narrowestFirst(
  LOCATIONS.flatMap(location =>
    location.label === null ? [] : [{ ...rangeOf(location), ...placeOf(location.label, location.summary) }],
  ),
)

const AT_ROUTINES: ReadonlyMap<number, Place> = new Map(
  ROUTINES.map(({ address, area, label, summary }) => [addressOf(address), placeOf(`${area} ${label}`, summary)]),
)

const POWER_ON = narrowestFirst(
  REGIONS.filter(({ powerOn }) => powerOn).map(region => ({
    ...rangeOf(region),
    ...placeOf(region.title, region.summary),
  })),
)

/** The memory region of an address. Every address from 0 to 65535 has one. */
export function placeAt(address: number): Place {
  const routine = JUMP_TABLE.get(address)
  if (routine !== undefined) return placeOf(`KERNAL ${routine.label}`, routine.summary)
  const found =
    GROUPS.find(range => holds(range, address)) ??
    LABELLED.find(range => holds(range, address)) ??
    AT_ROUTINES.get(address) ??
    POWER_ON.find(range => holds(range, address))
  return found ?? placeOf('Memory', 'no region is known here')
}

/** The KERNAL routine whose jump table entry is at this address. */
export function kernalAt(address: number): KernalFact | null {
  return JUMP_TABLE.get(address) ?? null
}

/** Start of the first region above the memory pages that the system reserves for itself. */
const FIRST_KNOWN_REGION = 0x0400
const STARTS: ReadonlySet<number> = new Set([
  ...LABELLED.map(({ start }) => start).filter(start => start > 0xff),
  ...POWER_ON.map(({ start }) => start).filter(start => start >= FIRST_KNOWN_REGION),
])

/** Whether a decimal number above 255, without a prefix, is certainly meant as an address. */
export function isKnownAddress(value: number): boolean {
  return STARTS.has(value) || JUMP_TABLE.has(value) || registerAt(value) !== null || mirroredAddress(value) !== null
}

function placeOf(title: string, summary: string): Place {
  // The summary is shown in parentheses, so its final full stop is removed.
  return { title, summary: summary.replace(/\.$/, '') }
}

function narrowestFirst<T extends Range>(ranges: readonly T[]): readonly T[] {
  return [...ranges].sort((a, b) => sizeOf(a) - sizeOf(b))
}
