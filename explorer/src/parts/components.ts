/** What a score is made of, and the colour of each part: bars, trees and legends use the same. */

const COLOURS: Readonly<Record<string, string>> = {
  words: 'var(--words)',
  meaning: 'var(--meaning)',
  memory: 'var(--memory)',
  strength: 'var(--memory)',
  recency: 'var(--memory)',
  trust: 'var(--trust)',
  confidence: 'var(--confidence)',
}

export function colourOf(component: string): string {
  return COLOURS[component] ?? 'var(--other)'
}
