/** The main reasons for a result in one line, read off its explanation. */
import type { Entry } from '../model/entry.ts'
import type { Explanation } from '../model/explanation.ts'
import { toIso } from '../model/instant.ts'

const MOST_WORDS = 3

/** `meaning 0.49 (cosine 0.70) + words 0.29 (aeroelastic, models, heated), used 3 times` */
export function whyRanked(score: Explanation): string {
  const parts = [find(score, 'words'), find(score, 'meaning')]
    .filter(part => part !== undefined && part.value > 0)
    .sort((a, b) => (b as Explanation).value - (a as Explanation).value)
  const reasons = parts.map(part => reasonOf(part as Explanation)).join(' + ')
  const used = find(score, 'strength')?.note
  const phrase = find(score, 'phrase')
  const lifted = phrase === undefined ? reasons : `${reasons}, × phrase ${phrase.value.toFixed(2)}`
  const line = reasons === '' ? 'nothing speaks for it' : lifted
  return used === undefined ? line : `${line}, ${used}`
}

export function whyListed(entry: Entry): string {
  return `fulfils the conditions; changed ${toIso(entry.updatedAt).slice(0, 10)}`
}

function reasonOf(part: Explanation): string {
  return `${part.label} ${part.value.toFixed(2)} (${part.label === 'words' ? matchedWords(part) : cosineIn(part)})`
}

function matchedWords(part: Explanation): string {
  const matched = [...(find(part, 'BM25')?.children ?? [])].sort((a, b) => b.value - a.value)
  const shown = matched.slice(0, MOST_WORDS).map(match => match.label)
  return matched.length > MOST_WORDS ? `${shown.join(', ')} …` : shown.join(', ')
}

function cosineIn(part: Explanation): string {
  return `cosine ${(find(part, 'cosine')?.value ?? 0).toFixed(2)}`
}

/** The first node of that label, from the top. */
function find(tree: Explanation, label: string): Explanation | undefined {
  if (tree.label === label) return tree
  for (const child of tree.children ?? []) {
    const found = find(child, label)
    if (found !== undefined) return found
  }
  return undefined
}
