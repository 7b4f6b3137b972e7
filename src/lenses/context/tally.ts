import { compareText } from '../../base/compare.ts'

/** How often each name comes, in the order of names. */
export function tally(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => compareText(a, b)))
}
