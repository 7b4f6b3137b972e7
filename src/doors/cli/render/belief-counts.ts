/** How many beliefs there are, of what kind. */
import { oneLine, type Style } from './style.ts'

export interface Count {
  readonly total: number
  readonly by_scope: Readonly<Record<string, number>>
}

export function countText({ total, by_scope }: Count): string {
  const parts = Object.entries(by_scope).map(([scope, count]) => `${scope} ${count}`)
  return `${total} (${parts.join(', ')})\n`
}

interface Facet {
  readonly values: readonly { readonly value: string; readonly count: number }[]
  readonly other_count: number
}

export interface Facets {
  readonly facets: Readonly<Record<string, Facet>>
}

export function facetsText({ facets }: Facets, style: Style): string {
  return Object.entries(facets)
    .map(([field, { values, other_count }]) => {
      const rows = values.map(({ value, count }) => `${String(count).padStart(5)}  ${oneLine(value)}\n`)
      const other = other_count > 0 ? `${String(other_count).padStart(5)}  ${style.dim('others')}\n` : ''
      return `${style.bold(field)}\n${rows.join('')}${other}`
    })
    .join('')
}

interface SampleCounts {
  readonly agents: number
  readonly federations: number
  readonly trust_edges: number
  readonly beliefs: number
  readonly superseded: number
}

export function sampleText({ beliefs, superseded, agents, federations, trust_edges: edges }: SampleCounts): string {
  const of = `of ${agents} agents in ${federations} federations, ${edges} statements of trust`
  return `${beliefs} beliefs (and ${superseded} older versions) ${of}\n`
}
