/** What the chroma commands print for people. */
import { oneLine, type Style } from './style.ts'
import { textTable } from './table.ts'

export interface Binding {
  readonly hashtag: string
  readonly anchor_id: number
  readonly zone: string
  readonly L: number
  readonly a: number
  readonly b: number
  readonly mass: number
}

interface Result {
  readonly entry_id: string
  readonly label: string
  readonly state: string
  readonly score: number
  readonly distance: number
  readonly relevance: number
  readonly recency: number
  readonly strength_norm: number
}

export interface Answer {
  readonly results: readonly Result[]
  readonly query: { readonly hashtags: readonly string[]; readonly completed_hashtags: readonly string[] }
  readonly warnings: readonly { readonly message: string }[]
}

export interface Forecast {
  readonly totals: Readonly<Record<string, number>>
  readonly items: readonly {
    readonly event: string
    readonly at: number
    readonly entry_id: string
    readonly label: string
  }[]
}

export function answerText({ results, query, warnings }: Answer, style: Style, width?: number): string {
  const added = query.completed_hashtags
  const notes = [
    ...(added.length > 0 ? [`completed with ${added.join(' ')}`] : []),
    ...warnings.map(({ message }) => message),
  ].map(note => `${style.dim(oneLine(note))}\n`)
  if (results.length === 0) return `no nodes found\n${notes.join('')}`
  const number = (title: string, of: (row: Result) => number) =>
    ({ title, align: 'right', cell: (row: Result) => of(row).toFixed(3) }) as const
  const table = textTable(
    [
      number('SCORE', row => row.score),
      { title: 'DISTANCE', align: 'right', cell: row => row.distance.toFixed(2) },
      number('RELEVANCE', row => row.relevance),
      number('RECENCY', row => row.recency),
      number('STRENGTH', row => row.strength_norm),
      { title: 'STATE', cell: row => row.state },
      { title: 'ENTRY', cell: row => row.entry_id },
      { title: 'LABEL', cell: row => row.label },
    ],
    results,
    style,
    width,
  )
  return table + notes.join('')
}

export function bindingsText(bindings: readonly Binding[], style: Style): string {
  return textTable(
    [
      { title: 'ANCHOR', align: 'right', cell: one => String(one.anchor_id) },
      { title: 'ZONE', cell: one => one.zone },
      { title: 'L', align: 'right', cell: one => String(one.L) },
      { title: 'A', align: 'right', cell: one => String(one.a) },
      { title: 'B', align: 'right', cell: one => String(one.b) },
      { title: 'MASS', align: 'right', cell: one => one.mass.toFixed(2) },
      { title: 'HASHTAG', cell: one => one.hashtag },
    ],
    bindings,
    style,
  )
}

export function forecastText({ totals, items }: Forecast, style: Style): string {
  const sums = Object.entries(totals).map(([event, count]) => `${event} ${count}`)
  if (items.length === 0) return `${sums.join(', ')}\n`
  const table = textTable(
    [
      { title: 'WHEN', cell: item => new Date(item.at * 1000).toISOString() },
      { title: 'EVENT', cell: item => item.event },
      { title: 'ENTRY', cell: item => item.entry_id },
      { title: 'LABEL', cell: item => item.label },
    ],
    items,
    style,
  )
  return `${sums.join(', ')}\n${table}`
}
