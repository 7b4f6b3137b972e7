/** What is at an address, in one line: the most telling fact there is, with the machine as it is after power on. */
import { addressOf, holds, type Range, rangeOf, sizeOf } from './address.ts'
import { mirroredAddress, registerAt } from './chips.ts'
import { IO_GROUPS, KERNAL, type KernalFact, LOCATIONS, REGIONS, ROUTINES } from './facts.ts'

export interface Place {
  readonly title: string
  readonly summary: string
}

const JUMP_TABLE: ReadonlyMap<number, KernalFact> = new Map(KERNAL.map(entry => [addressOf(entry.address), entry]))

const ENTRIES: ReadonlyMap<number, Place> = new Map(
  [...JUMP_TABLE].map(([address, { label, summary }]) => [address, placeOf(`KERNAL ${label}`, summary)]),
)

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
  REGIONS.filter(region => region.powerOn).map(region => ({
    ...rangeOf(region),
    ...placeOf(region.title, region.summary),
  })),
)

/** Every address from 0 to 65535 is somewhere. */
export function placeAt(address: number): Place {
  const found =
    ENTRIES.get(address) ??
    GROUPS.find(range => holds(range, address)) ??
    LABELLED.find(range => holds(range, address)) ??
    AT_ROUTINES.get(address) ??
    POWER_ON.find(range => holds(range, address))
  return found ?? placeOf('Memory', 'no region is known here')
}

/** The routine of the jump table that is called here. */
export function kernalAt(address: number): KernalFact | null {
  return JUMP_TABLE.get(address) ?? null
}

/** The first region above the pages that the system keeps for itself. */
const FIRST_KNOWN_REGION = 0x0400
const STARTS: ReadonlySet<number> = new Set([
  ...LABELLED.map(({ start }) => start).filter(start => start > 0xff),
  ...POWER_ON.map(({ start }) => start).filter(start => start >= FIRST_KNOWN_REGION),
])

/** Whether a bare decimal above 255 is surely meant as an address. */
export function isKnownAddress(value: number): boolean {
  return STARTS.has(value) || JUMP_TABLE.has(value) || registerAt(value) !== null || mirroredAddress(value) !== null
}

function placeOf(title: string, summary: string): Place {
  return { title, summary: bare(summary) }
}

/** Stands in parentheses, where a full stop at the end is one too many. */
function bare(summary: string): string {
  return summary.replace(/\.$/, '')
}

function narrowestFirst<T extends Range>(ranges: readonly T[]): readonly T[] {
  return [...ranges].sort((a, b) => sizeOf(a) - sizeOf(b))
}
