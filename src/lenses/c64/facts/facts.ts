/** The fact files, with types. Addresses are texts such as `$D020`, with four upper-case digits. */
import colorFile from './data/colors.json' with { type: 'json' }
import kernalFile from './data/kernal.json' with { type: 'json' }
import memoryFile from './data/memory-map.json' with { type: 'json' }
import opcodeFile from './data/opcodes.json' with { type: 'json' }
import registerFile from './data/registers.json' with { type: 'json' }

export interface RegisterFact {
  readonly address: string
  readonly dec: number
  readonly chip: string
  readonly name: string
  readonly aliases: readonly string[]
  /** Data sheet name that both CIA chips share. */
  readonly genericName?: string | undefined
  readonly access: string
  readonly group: string
  readonly summary: string
  readonly bits?: readonly BitFact[] | undefined
  readonly kernalDefault?: string | null | undefined
  readonly isColor?: boolean | undefined
  readonly note?: string | null | undefined
}

export interface BitFact {
  readonly bits: string
  readonly name: string
  readonly meaning: string
}

export interface ChipFact {
  readonly chip: string
  readonly title: string
  readonly registerCount: number
  readonly regionStart: string
  readonly regionEnd: string
  readonly mirrorPeriod: number
}

export interface KernalFact {
  readonly address: string
  readonly dec: number
  readonly label: string
  readonly aliases: readonly string[]
  readonly category: string
  readonly summary: string
  readonly romAddress: string
  readonly vector?: string | null | undefined
  readonly vectorName?: string | null | undefined
  readonly in: string
  readonly out: string
  readonly affects: readonly string[]
  readonly callFirst: readonly string[]
  readonly errors: string
  readonly englishWord?: boolean | undefined
}

export interface EncodingFact {
  readonly mode: string
  readonly opcode: string
  readonly bytes: number
  readonly cycles: number | null
  readonly pageCross?: number | undefined
  readonly branchTaken?: number | undefined
}

export interface OpcodeFact {
  readonly mnemonic: string
  readonly name: string
  readonly category: string
  readonly flags: string
  readonly operation: string
  readonly englishWord?: boolean | undefined
  readonly encodings: readonly EncodingFact[]
}

export interface UndocumentedFact {
  readonly mnemonic: string
  readonly aliases: readonly string[]
  readonly operation: string
  readonly encodings: readonly EncodingFact[]
}

export interface ColorFact {
  readonly index: number
  readonly name: string
  readonly tag: string
  readonly aliases: readonly string[]
  readonly petscii: string
  readonly petsciiDec: number
  readonly keys: string
  readonly rgb: string
}

export interface RangeFact {
  readonly start: string
  readonly end: string
}

export interface RegionFact extends RangeFact {
  readonly name: string
  readonly kind: string
  readonly summary: string
  readonly title: string
  readonly powerOn: boolean
}

export interface GroupFact extends RangeFact {
  readonly name: string
  readonly summary: string
  readonly title: string
}

export interface LocationFact extends RangeFact {
  /** Null: unnamed or unused. */
  readonly label: string | null
  readonly aliases: readonly string[]
  readonly category: string
  readonly summary: string
}

export interface RoutineFact {
  readonly address: string
  readonly dec: number
  readonly label: string
  readonly aliases: readonly string[]
  readonly area: string
  readonly summary: string
}

export interface BankingFact {
  /** Bits 2 to 0 of the processor port. */
  readonly port01Low3: string
  readonly A000: string
  readonly D000: string
  readonly E000: string
}

export interface VideoBankFact {
  /** Bits 1 and 0 of port A of the second CIA. */
  readonly dd00Low2: string
  readonly bank: number
  readonly start: string
}

export const REGISTERS: readonly RegisterFact[] = registerFile.registers
export const CHIPS: readonly ChipFact[] = registerFile.chips
/** Register names that are ordinary words. */
export const WORD_LIKE_REGISTERS: readonly string[] = registerFile.englishWordNames
export const KERNAL: readonly KernalFact[] = kernalFile.entries
export const OPCODES: readonly OpcodeFact[] = opcodeFile.official
export const UNDOCUMENTED: readonly UndocumentedFact[] = opcodeFile.undocumented
export const COLORS: readonly ColorFact[] = colorFile.colors
/** Where a value from 0 to 15 is a colour. */
export const COLOR_RANGES: readonly RangeFact[] = colorFile.meta.contextRanges
export const REGIONS: readonly RegionFact[] = memoryFile.regions
export const IO_GROUPS: readonly GroupFact[] = memoryFile.ioGroups
export const LOCATIONS: readonly LocationFact[] = memoryFile.locations
export const ROUTINES: readonly RoutineFact[] = memoryFile.romRoutines
export const CPU_BANKING: readonly BankingFact[] = memoryFile.cpuBanking
export const VIDEO_BANKS: readonly VideoBankFact[] = memoryFile.vicBanks
