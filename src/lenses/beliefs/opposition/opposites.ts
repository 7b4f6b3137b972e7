/** Words of two sentences that mean opposite things: by a list, or because one is the other with `un-` before it. */
import { fold } from '../../../text/normalise.ts'
import { stem } from '../../../text/stem.ts'
import { type OppositionLanguage, WORDS } from './words.ts'

/** Stems: of the first sentence, and of the second. */
export type OppositePair = readonly [string, string]

/** Each word once. */
export function oppositesIn(
  a: ReadonlySet<string>,
  b: ReadonlySet<string>,
  inLanguage: OppositionLanguage,
): readonly OppositePair[] {
  const pairs: OppositePair[] = []
  const taken = new Set<string>()
  for (const one of a) {
    if (b.has(one)) continue
    for (const other of b) {
      if (a.has(other) || taken.has(other) || !areOpposite(one, other, inLanguage)) continue
      taken.add(other)
      pairs.push([one, other])
      break
    }
  }
  return pairs
}

function areOpposite(one: string, other: string, inLanguage: OppositionLanguage): boolean {
  const { prefixes } = WORDS[inLanguage]
  if (prefixes.some(prefix => one === prefix + other || other === prefix + one)) return true
  return OPPOSITES[inLanguage].get(one)?.has(other) ?? false
}

const OPPOSITES: Readonly<Record<OppositionLanguage, ReadonlyMap<string, ReadonlySet<string>>>> = {
  en: opposites('en'),
  es: opposites('es'),
}

function opposites(inLanguage: OppositionLanguage): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  const stems = (side = '') =>
    side
      .trim()
      .split(/\s+/)
      .map(word => stem(fold(word), inLanguage))
  for (const line of WORDS[inLanguage].opposites) {
    const [left, right] = line.split(':').map(stems) as [string[], string[]]
    for (const [these, those] of [
      [left, right],
      [right, left],
    ] as const) {
      for (const one of these) found.set(one, new Set([...(found.get(one) ?? []), ...those]))
    }
  }
  return found
}
