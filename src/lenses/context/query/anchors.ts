/** Where an answer begins: concepts whose names the question names, and those that mean it (CX-015 to CX-025). */
import type { Concept, VisibleConcepts } from '../concepts.ts'
import { coverage, foldName, lengthOf, wordsOf } from '../names.ts'
import { type ContextRequest, LEAST_SEMANTIC } from './request.ts'

export interface Anchor {
  readonly concept: Concept
  /** How the question found it first. */
  readonly match: 'name' | 'words' | 'meaning' | 'text'
  /** Cosine with the question, where it is near enough to count. */
  readonly cosine: number | null
}

/** A concept that means the question. */
export interface Meant {
  readonly concept: Concept
  readonly cosine: number
  readonly match: 'meaning' | 'text'
}

/** By id those whose name holds the question as it is; then, with `inWords`, those that share words with it, most first. */
export function namedAnchors(
  { all }: VisibleConcepts,
  query: string,
  limit: number,
  inWords: boolean,
): readonly Anchor[] {
  const wanted = foldName(query)
  const named: Anchor[] = []
  for (const concept of all) {
    if (named.length === limit) return named
    if (concept.folded.includes(wanted)) named.push({ concept, match: 'name', cosine: null })
  }
  if (!inWords) return named
  const taken = new Set(named.map(({ concept }) => concept))
  const queryWords = [...new Set(wordsOf(query))]
  const sharing = all
    .filter(concept => !taken.has(concept))
    .map(concept => ({ concept, share: coverage(queryWords, concept.words) }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share || a.concept.id - b.concept.id)
    .slice(0, limit - named.length)
  return [...named, ...sharing.map(({ concept }): Anchor => ({ concept, match: 'words', cosine: null }))]
}

export function wantsMeaning({ mode, query }: ContextRequest): boolean {
  return mode === 'semantic' || (mode === 'hybrid' && lengthOf(query) >= LEAST_SEMANTIC)
}

/** Names first in their order, with their cosine where they are meant too; then what is meant only, nearest first. */
export function merged(
  named: readonly Anchor[],
  meant: readonly Meant[],
): { readonly named: readonly Anchor[]; readonly meantOnly: readonly Anchor[] } {
  const cosines = new Map(meant.map(({ concept, cosine }) => [concept, cosine]))
  const names = new Set(named.map(({ concept }) => concept))
  return {
    named: named.map(anchor => ({ ...anchor, cosine: cosines.get(anchor.concept) ?? null })),
    meantOnly: meant.filter(({ concept }) => !names.has(concept)),
  }
}
