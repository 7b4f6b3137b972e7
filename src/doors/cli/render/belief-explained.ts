/** Why a belief stands where it does, as people are told it. */
import { fieldsText } from './agents.ts'
import { oneLine, type Style } from './style.ts'
import { textTable } from './table.ts'

interface Part {
  readonly value: number | null
  readonly weight: number
  readonly contribution: number
}

export interface Explained {
  readonly summary: string
  readonly dropped_by?: { readonly stage: string; readonly reason: string } | null
  readonly explanation?: Readonly<Record<string, unknown>>
  readonly hints?: readonly {
    readonly dimension: string
    readonly current: number | null
    readonly target: number
    readonly rank: number
  }[]
  readonly versus?: Versus
}

/** Numbers are there where both match. */
interface Versus {
  readonly ahead?: string
  readonly behind?: string
  readonly gap?: number
  readonly parts?: Readonly<Record<string, { readonly contribution: number }>>
  readonly smallest_change?: { readonly weights: Readonly<Record<string, number>> } | null
  readonly [more: string]: unknown
}

const PARTS = ['semantic', 'confidence', 'trust', 'recency']

export function explanationText(
  { summary, dropped_by: dropped, explanation = {}, hints = [], versus }: Explained,
  style: Style,
): string {
  const parts = PARTS.flatMap(name => (name in explanation ? [{ name, ...(explanation[name] as Part) }] : []))
  const table = textTable(
    [
      { title: 'PART', cell: part => part.name },
      { title: 'VALUE', align: 'right', cell: ({ value }) => value?.toFixed(4) ?? '-' },
      { title: 'WEIGHT', align: 'right', cell: ({ weight }) => weight.toFixed(4) },
      { title: 'GIVES', align: 'right', cell: ({ contribution }) => contribution.toFixed(4) },
    ],
    parts,
    style,
  )
  const lines = [
    summary,
    ...(dropped ? [`not shown: ${dropped.reason}`] : []),
    ...hints.map(
      ({ dimension, current, target, rank }) =>
        `with ${dimension} at ${target} instead of ${current ?? 'unknown'} it would be number ${rank}`,
    ),
  ].map(line => `${oneLine(line)}\n`)
  const compared = versus === undefined ? '' : versusText(versus)
  return (parts.length > 0 ? table : '') + lines.join('') + compared
}

function versusText({ ahead, behind, gap, parts, smallest_change: change, ...more }: Versus): string {
  if (ahead === undefined || gap === undefined || parts === undefined) return fieldsText(more)
  const gains = Object.entries(parts).map(
    ([name, { contribution }]) => `${name} ${contribution < 0 ? '' : '+'}${contribution.toFixed(4)}`,
  )
  const weights = Object.entries(change?.weights ?? {}).map(([name, weight]) => `${name} ${weight.toFixed(3)}`)
  const swap = change
    ? `the nearest weights that swap them: ${weights.join(', ')}`
    : 'no weights of the four parts would swap them'
  return `${oneLine(`${ahead} is before ${behind} by ${gap.toFixed(4)}: ${gains.join(', ')}`)}\n${swap}\n`
}
