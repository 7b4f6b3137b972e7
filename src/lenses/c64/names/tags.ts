/** The one spelling of every tag, for what is stored and for what is asked. */
import { toAddress } from '../enrichment/parsed-number.ts'
import { LOCATIONS, ROUTINES } from '../facts/facts.ts'
import { colorNamed } from './colors.ts'
import { kernalNamed } from './kernal.ts'
import { canonicalMnemonic } from './mnemonics.ts'
import { registerNamed, registersPossible } from './registers.ts'

/** Idempotent: a canonical tag stays as it is. */
export function canonicalTag(tag: string): string {
  const upper = tag.trim().toUpperCase()
  const address = /^(?:\$|0X)([0-9A-F]{1,4})$/.exec(upper)?.[1]
  if (address !== undefined) return toAddress(Number.parseInt(address, 16))
  return namedTag(upper) ?? MEMORY_LABELS.get(upper) ?? upper.replaceAll('GRAY', 'GREY')
}

/** The tag of a register, routine, instruction or colour of this name; null when it is none of them. */
export function namedTag(name: string): string | null {
  return registerNamed(name)?.name ?? kernalNamed(name)?.label ?? colorNamed(name)?.tag ?? canonicalMnemonic(name)
}

/** Every tag that a name in a question may have become, depending on the rest of the question. */
export function tagsFor(name: string): readonly string[] {
  return [...new Set([canonicalTag(name), ...registersPossible(name).map(register => register.name)])]
}

/** Names of locations and of routines outside the jump table, aliases to labels. */
const MEMORY_LABELS: ReadonlyMap<string, string> = new Map(
  [...ROUTINES, ...LOCATIONS].flatMap(({ label, aliases }) =>
    label === null
      ? []
      : aliases.filter(alias => namedTag(alias) === null).map(alias => [alias, namedTag(label) ?? label]),
  ),
)
