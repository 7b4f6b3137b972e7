/**
 * Facts about the Commodore 64 with types for each kind, and functions on addresses. Addresses are texts such as `$D020`, with four
 * upper-case hexadecimal digits.
 */
import colorFile from './data/colors.json' with { type: 'json' }
import kernalFile from './data/kernal.json' with { type: 'json' }
import memoryFile from './data/memory-map.json' with { type: 'json' }
import noteFile from './data/notes.json' with { type: 'json' }
import opcodeFile from './data/opcodes.json' with { type: 'json' }
import registerFile from './data/registers.json' with { type: 'json' }

/** A register of a chip. `genericName`: name of the register in the data sheet of the CIA, a chip of which the machine has two. */
export type RegisterFact = (typeof registerFile.registers)[number]
export type KernalFact = (typeof kernalFile.entries)[number]
export type ColorFact = (typeof colorFile.colors)[number]

/** One encoding of a processor instruction. `cycles`: number of clock cycles; null if the instruction never ends. */
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
/** Names of registers that are also ordinary English words, so that a question may not mean the register. */
export const WORD_LIKE_REGISTERS: readonly string[] = registerFile.englishWordNames
export const KERNAL: readonly KernalFact[] = kernalFile.entries
export const OPCODES = opcodeFile.official
export const UNDOCUMENTED = opcodeFile.undocumented
export const COLORS: readonly ColorFact[] = colorFile.colors
/** Address ranges in which a stored value from 0 to 15 is a colour. */
export const COLOR_RANGES: readonly RangeFact[] = colorFile.meta.contextRanges
export const REGIONS = memoryFile.regions
export const IO_GROUPS = memoryFile.ioGroups
/** Memory locations with their meanings. `label`: name of the location; null if it has no name or is unused. */
export const LOCATIONS = memoryFile.locations
export const ROUTINES = memoryFile.romRoutines
/** Facts that do not belong to a single address. */
export const NOTES = noteFile.notes
/** Which memory the processor sees at each setting of its port. `port01Low3`: bits 2 to 0 of the processor port at address 1. */
export const CPU_BANKING = memoryFile.cpuBanking
/** Memory banks that the video chip can use. `dd00Low2`: bits 1 and 0 of port A of the second CIA chip ($DD00), which select the bank. */
export const VIDEO_BANKS = memoryFile.vicBanks

export interface Range {
  readonly start: number
  /** Last address of the range, which belongs to the range. */
  readonly end: number
}

/** The number that an address text of the fact files, such as `$D020`, has in hexadecimal. */
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

/** Address ranges of the C64's chips, as numbers. `mirrorPeriod`: number of addresses after which a chip's registers repeat. */
const CHIP_RANGES = CHIPS.map(chip => ({ ...chip, ...rangeOf({ start: chip.regionStart, end: chip.regionEnd }) }))

const BY_ADDRESS: ReadonlyMap<number, RegisterFact> = new Map(
  REGISTERS.map(register => [addressOf(register.address), register]),
)

/** The chip register whose own address is `address`; null where there is none, also for an address that only mirrors a register. */
export function registerAt(address: number): RegisterFact | null {
  return BY_ADDRESS.get(address) ?? null
}

/**
 * The own address of the chip register that appears again (is mirrored) at this address. Null where this address mirrors no register, or is
 * itself a register's own address.
 */
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

/** The memory region of the C64 that contains an address, with its title and summary. Every address from 0 to 65535 is in a region. */
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

/** The KERNAL routine whose entry in the KERNAL's jump table is at this address; null when there is none. */
export function kernalAt(address: number): KernalFact | null {
  return JUMP_TABLE.get(address) ?? null
}

/** First address above the memory pages that the C64's system reserves for itself ($0000 to $03FF). */
const FIRST_KNOWN_REGION = 0x0400
const STARTS: ReadonlySet<number> = new Set([
  ...LABELLED.map(({ start }) => start).filter(start => start > 0xff),
  ...POWER_ON.map(({ start }) => start).filter(start => start >= FIRST_KNOWN_REGION),
])

/**
 * Whether a decimal number above 255, written without a prefix, is certainly meant as an address. It is when it is the start of a labelled
 * memory area or known region, a KERNAL routine, a register, or a mirror (repeated address) of a register.
 */
export function isKnownAddress(value: number): boolean {
  return STARTS.has(value) || JUMP_TABLE.has(value) || registerAt(value) !== null || mirroredAddress(value) !== null
}

function placeOf(title: string, summary: string): Place {
  // The summary will be shown in parentheses, so its final full stop is removed.
  return { title, summary: summary.replace(/\.$/, '') }
}

function narrowestFirst<T extends Range>(ranges: readonly T[]): readonly T[] {
  return [...ranges].sort((a, b) => sizeOf(a) - sizeOf(b))
}
