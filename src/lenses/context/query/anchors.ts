/** Where an answer begins: concepts whose names the question names, and those that mean it (CX-015 to CX-025). */
import type { Concept, VisibleConcepts } from '../concepts.ts'
import { covers, foldName, lengthOf, wordsOf } from '../names.ts'
import type { Evidence } from './evidence.ts'
import { type ContextRequest, LEAST_SEMANTIC } from './request.ts'

/** Words of a question that are compared: more is a text, not a name. */
const MOST_WORDS = 64

export interface Anchor {
  readonly concept: Concept
  /** How the question found it first; `whole` by relevance alone: the question is its name. */
  readonly match: 'whole' | 'name' | 'words' | 'meaning' | 'text'
  /** Cosine with the question, where it is near enough to count. */
  readonly cosine: number | null
  /** With rank `relevance`: why it stands where it does. */
  readonly evidence?: Evidence
}

/** A concept that means the question. */
export interface Meant {
  readonly concept: Concept
  readonly cosine: number
  readonly match: 'meaning' | 'text'
}

/** By id those whose name holds the question as it is; then, with `inWords`, those that share words with it, most first. */
export function namedAnchors(
  concepts: VisibleConcepts,
  query: string,
  limit: number,
  inWords: boolean,
): readonly Anchor[] {
  const wanted = foldName(query)
  const named: Anchor[] = []
  for (const concept of concepts.all) {
    if (named.length === limit) return named
    if (concept.folded.includes(wanted)) named.push({ concept, match: 'name', cosine: null })
  }
  if (!inWords) return named
  const taken = new Set(named.map(({ concept }) => concept))
  const sharing = [...shares(concepts, query)]
    .filter(([concept]) => !taken.has(concept))
    .sort(([a, shareOfA], [b, shareOfB]) => shareOfB - shareOfA || a.id - b.id)
    .slice(0, limit - named.length)
  return [...named, ...sharing.map(([concept]): Anchor => ({ concept, match: 'words', cosine: null }))]
}

/** How many of the question's words each concept's name covers, where it is any. */
function shares({ all, byWord }: VisibleConcepts, query: string): ReadonlyMap<Concept, number> {
  const counts = new Map<Concept, number>()
  const queryWords = new Set(wordsOf(query).slice(0, MOST_WORDS))
  for (const queryWord of queryWords) {
    const covered = new Set<number>()
    for (const [word, places] of byWord) {
      if (!covers(queryWord, word)) continue
      for (const place of places) covered.add(place)
    }
    for (const place of covered) counts.set(all[place] as Concept, (counts.get(all[place] as Concept) ?? 0) + 1)
  }
  return counts
}

export function wantsMeaning({ mode, query }: ContextRequest): boolean {
  return mode === 'semantic' || (mode === 'hybrid' && lengthOf(query) >= LEAST_SEMANTIC)
}

/** Names first in their order, with their cosine where they are meant too; then what is meant only, nearest first. */
export function merged(named: readonly Anchor[], meant: readonly Meant[]): readonly Anchor[] {
  const cosines = new Map(meant.map(({ concept, cosine }) => [concept, cosine]))
  const names = new Set(named.map(({ concept }) => concept))
  return [
    ...named.map(anchor => ({ ...anchor, cosine: cosines.get(anchor.concept) ?? null })),
    ...meant.filter(({ concept }) => !names.has(concept)),
  ]
}
