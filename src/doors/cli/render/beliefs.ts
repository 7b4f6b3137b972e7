/** Lists of beliefs as people are shown them: answers to queries, to several at once, and what contradicts a belief. */
import { type BeliefView, type Chain, chainText } from './belief.ts'
import { cut, oneLine, type Style } from './style.ts'
import { type Column, textTable } from './table.ts'

export interface Ranked {
  readonly belief: BeliefView
  readonly score: { readonly final: number; readonly components: Readonly<Record<string, number | null>> }
  readonly rank: number
  readonly source: { readonly kind: string; readonly id: string | null }
  readonly explanation?: { readonly summary?: string }
  readonly derivation_chain?: Chain
}

export interface Answer {
  readonly beliefs: readonly Ranked[]
  readonly total_count: number
  /** Of queries, not of other lists. */
  readonly as_of?: string
  readonly next_cursor?: string | null
  readonly conflicts?: readonly {
    readonly belief_ids: readonly [string, string]
    readonly contradiction_type: string
    readonly resolution_reason: string
  }[]
  readonly warnings: readonly { readonly message: string }[]
  readonly errors?: readonly AnswerError[]
  /** Where other nodes were asked. */
  readonly coverage?: { readonly nodes?: readonly AskedNode[] }
}

interface AnswerError {
  readonly code: string
  readonly message: string
  readonly node?: string
}

interface AskedNode {
  readonly node: string
  readonly federation: string | null
  readonly responded: boolean
  readonly results: number
  readonly answered_at: string | null
  readonly elapsed_ms: number
}

export interface Batch {
  readonly results: readonly (
    | { readonly ok: true; readonly result: Answer }
    | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }
  )[]
}

export function answerText(answer: Answer, style: Style, width?: number): string {
  const { beliefs } = answer
  const notes = notesOf(answer)
    .map(note => `${style.dim(note)}\n`)
    .join('')
  if (beliefs.length === 0) return `no beliefs found\n${notes}`
  const reasons = beliefs.map(one => reasonText(one, style)).join('')
  return textTable(COLUMNS, beliefs, style, width) + reasons + countOf(beliefs.length, answer) + notes
}

/** All that the pieces of a stream say but their beliefs. */
export type StreamEnd = Omit<Answer, 'beliefs'> & { readonly errors: readonly AnswerError[] }

/** How a stream ended, of which so many beliefs were printed. */
export function streamEndText(count: number, end: StreamEnd): string {
  const notes = notesOf(end)
    .map(note => `${note}\n`)
    .join('')
  return (count === 0 ? 'no beliefs found\n' : countOf(count, end)) + notes
}

function countOf(count: number, { total_count, as_of }: Omit<Answer, 'beliefs'>): string {
  return `${count} of ${total_count}${as_of === undefined ? '' : `, as of ${as_of}`}\n`
}

function notesOf(answer: Omit<Answer, 'beliefs'>): readonly string[] {
  const { next_cursor: next, conflicts = [], warnings, errors = [], coverage } = answer
  return [
    ...errors.map(({ code, message, node }) =>
      oneLine(`a part of the answer: ${node === undefined ? '' : `${node}: `}${code}: ${message}`),
    ),
    ...(coverage?.nodes ?? []).filter(({ responded }) => responded).map(answered),
    ...conflicts.map(({ belief_ids, contradiction_type, resolution_reason }) =>
      oneLine(`${contradiction_type} conflict: ${belief_ids.join(' and ')}: ${resolution_reason}`),
    ),
    ...warnings.map(({ message }) => oneLine(message)),
    ...(next ? [`more: --cursor ${next}`] : []),
  ]
}

function answered({ node, federation, results, answered_at, elapsed_ms }: AskedNode): string {
  const of = federation === null ? '' : ` of federation ${federation}`
  return oneLine(`${node} answered with ${results}${of}, at ${answered_at} after ${elapsed_ms} ms`)
}

export interface Contradictions extends Omit<Answer, 'beliefs'> {
  readonly contradictions: readonly (Ranked & {
    readonly contradiction: { readonly type: string; readonly score: number; readonly text: string }
  })[]
  readonly detector: { readonly note: string }
}

export function contradictionsText({ contradictions, detector, ...rest }: Contradictions, style: Style): string {
  const texts = contradictions.map(({ rank, contradiction: { type, score, text } }) =>
    oneLine(`${rank}. ${type}, ${score.toFixed(2)}: ${text}`),
  )
  const notes = [...texts, detector.note].map(line => `${style.dim(line)}\n`).join('')
  return answerText({ ...rest, beliefs: contradictions }, style) + notes
}

export function batchText({ results }: Batch, style: Style, width?: number): string {
  return results
    .map(one => (one.ok ? answerText(one.result, style, width) : `${one.error.code}: ${oneLine(one.error.message)}\n`))
    .join('\n')
}

const HOLDER_WIDTH = 14

const score = (title: string, of: (one: Ranked) => number | null | undefined): Column<Ranked> => ({
  title,
  align: 'right',
  cell: one => of(one)?.toFixed(3) ?? '-',
})

const COLUMNS: readonly Column<Ranked>[] = [
  { title: '', align: 'right', cell: one => `${one.rank}` },
  score('SCORE', one => one.score.final),
  score('MEANING', one => one.score.components['semantic_similarity']),
  score('CONFIDENCE', one => one.score.components['confidence_score']),
  score('TRUST', one => one.score.components['trust_score']),
  score('RECENCY', one => one.score.components['recency_score']),
  { title: 'FROM', cell: ({ source }) => source.id ?? source.kind },
  { title: 'HOLDER', cell: ({ belief }) => cut(belief.holder_id ?? '-', HOLDER_WIDTH) },
  { title: 'ID', cell: ({ belief }) => belief.id },
  { title: 'BELIEF', cell: ({ belief }) => belief.content },
]

function reasonText({ rank, explanation, derivation_chain: chain }: Ranked, style: Style): string {
  const why = explanation?.summary === undefined ? '' : style.dim(`${rank}. ${oneLine(explanation.summary)}\n`)
  const steps = chain === undefined || chain.chain.length < 2 ? '' : chainText(chain)
  return why + steps
}
