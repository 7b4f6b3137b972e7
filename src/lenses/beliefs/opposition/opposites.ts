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
    const found = oppositesOf(one, inLanguage).filter(other => b.has(other) && !a.has(other) && !taken.has(other))
    // Of several the first that is said.
    const other = found.length < 2 ? found[0] : [...b].find(word => found.includes(word))
    if (other === undefined) continue
    taken.add(other)
    pairs.push([one, other])
  }
  return pairs
}

function oppositesOf(one: string, inLanguage: OppositionLanguage): readonly string[] {
  const { prefixes } = WORDS[inLanguage]
  const found = [...(OPPOSITES[inLanguage].get(one) ?? [])]
  for (const prefix of prefixes) {
    found.push(prefix + one)
    if (one.length > prefix.length && one.startsWith(prefix)) found.push(one.slice(prefix.length))
  }
  return found
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
