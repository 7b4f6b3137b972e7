/** Hits and enrichments as text for an assistant or a terminal. */
import type { Enrichment } from './enrich.ts'
import type { SearchHit } from './hits.ts'

/** `mode`: what was searched, see `modeText`; `nearest`: what came nearest where there are no hits (EN-070). */
export function formatHits(hits: readonly SearchHit[], mode: string, nearest: readonly SearchHit[] = []): string {
  if (hits.length === 0) {
    const titles = nearest.map(({ payload }) => `- ${titleOf(payload)}`)
    return ['No results found.', ...(titles.length > 0 ? ['---', ['Nearest:', ...titles].join('\n')] : [])].join('\n\n')
  }
  return [`_Search mode: ${mode}_`, hits.map(formatHit).join('\n\n---\n\n')].join('\n\n')
}

/** The enriched question, its tags and the way to search. */
export function formatEnrichment({
  enrichedQuery,
  filterTags,
  strategy,
}: Pick<Enrichment, 'enrichedQuery' | 'filterTags' | 'strategy'>): string {
  return `${enrichedQuery}\n\nTags: ${filterTags.join(', ') || 'none'}\nMode: ${strategy}`
}

function formatHit({ score, payload }: SearchHit, index: number): string {
  const facts = [
    `score=${score.toFixed(3)}`,
    ...[payload.type].filter(given => given !== undefined).map(type => `type=${oneLine(type)}`),
    ...[payload.filename].filter(given => given !== undefined).map(file => `file=${oneLine(file)}`),
  ]
  const heading = `### Result ${index + 1}: ${titleOf(payload)}\n_${facts.join(' | ')}_`
  const related = (payload.references ?? []).map(({ chunk, description }) =>
    description === '' ? `- ${oneLine(chunk)}` : `- ${oneLine(chunk)}: ${oneLine(description)}`,
  )
  const parts = [
    heading,
    (payload.document ?? '').trim(),
    related.length > 0 ? ['**Related chunks:**', ...related].join('\n') : '',
  ]
  return parts.filter(part => part !== '').join('\n\n')
}

function oneLine(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim()
}

function titleOf({ title, filename }: SearchHit['payload']): string {
  return oneLine(title) || oneLine(filename) || 'untitled'
}
