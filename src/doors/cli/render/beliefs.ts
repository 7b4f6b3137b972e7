/** What the commands on beliefs print for people. */
import { fieldsText } from './agents.ts'
import { oneLine, printable, type Style } from './style.ts'
import { type Column, textTable } from './table.ts'

interface BeliefView {
  readonly id: string
  readonly version: number
  readonly content: string
  readonly confidence: Readonly<Record<string, number | null>>
  readonly valid_from: string
  readonly valid_until: string | null
  readonly derivation: {
    readonly type: string
    readonly sources: readonly {
      readonly belief_id: string | null
      readonly external_ref: string | null
      readonly contribution_type: string
    }[]
  }
  readonly domains: readonly string[]
  readonly visibility: string
  readonly federation_ids: readonly string[]
  readonly holder_id: string | null
  readonly created_at: string
  readonly supersedes: string | null
  readonly superseded_by: string | null
  readonly deleted_at: string | null
}

interface Chain {
  readonly chain: readonly {
    readonly belief_id: string
    readonly depth: number
    readonly contribution_type: string | null
    readonly content_preview: string
    readonly derivation_type: string
  }[]
}

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
export type StreamEnd = Omit<Answer, 'beliefs'> & {
  readonly errors: readonly { readonly code: string; readonly message: string }[]
}

/** How a stream ended, of which so many beliefs were printed. */
export function streamEndText(count: number, end: StreamEnd): string {
  const errors = end.errors.map(({ code, message }) => `a part of the answer: ${code}: ${oneLine(message)}`)
  const notes = [...errors, ...notesOf(end)].map(note => `${note}\n`).join('')
  return (count === 0 ? 'no beliefs found\n' : countOf(count, end)) + notes
}

function countOf(count: number, { total_count, as_of }: Omit<Answer, 'beliefs'>): string {
  return `${count} of ${total_count}${as_of === undefined ? '' : `, as of ${as_of}`}\n`
}

function notesOf({ next_cursor: next, conflicts = [], warnings }: Omit<Answer, 'beliefs'>): readonly string[] {
  return [
    ...conflicts.map(({ belief_ids, contradiction_type, resolution_reason }) =>
      oneLine(`${contradiction_type} conflict: ${belief_ids.join(' and ')}: ${resolution_reason}`),
    ),
    ...warnings.map(({ message }) => oneLine(message)),
    ...(next ? [`more: --cursor ${next}`] : []),
  ]
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
  ].map(
    line => `${oneLine(line)}
`,
  )
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

export function countText({
  total,
  by_scope,
}: {
  readonly total: number
  readonly by_scope: Readonly<Record<string, number>>
}): string {
  const parts = Object.entries(by_scope).map(([scope, count]) => `${scope} ${count}`)
  return `${total} (${parts.join(', ')})\n`
}

interface Facet {
  readonly values: readonly { readonly value: string; readonly count: number }[]
  readonly other_count: number
}

export function facetsText({ facets }: { readonly facets: Readonly<Record<string, Facet>> }, style: Style): string {
  return Object.entries(facets)
    .map(([field, { values, other_count }]) => {
      const rows = values.map(({ value, count }) => `${String(count).padStart(5)}  ${oneLine(value)}\n`)
      const other = other_count > 0 ? `${String(other_count).padStart(5)}  ${style.dim('others')}\n` : ''
      return `${style.bold(field)}\n${rows.join('')}${other}`
    })
    .join('')
}

/** What came first is the belief itself; each line says what the one before rests on, and as what if not as primary. */
export function chainText({ chain }: Chain): string {
  return chain
    .map(({ belief_id, depth, contribution_type: contribution, content_preview, derivation_type }) => {
      const as = contribution === null || contribution === 'primary' ? '' : ` (${contribution})`
      const name = `${'  '.repeat(depth)}${depth === 0 ? '' : '← '}${oneLine(belief_id)}${as}`
      return `${name}  ${derivation_type}  ${oneLine(content_preview)}`
    })
    .map(line => `${line}\n`)
    .join('')
}

export function writtenText(answer: {
  readonly belief?: BeliefView
  readonly beliefs?: readonly BeliefView[]
}): string {
  return (answer.beliefs ?? [answer.belief as BeliefView]).map(({ id }) => `${id}\n`).join('')
}

export function beliefText({
  belief,
  history = [],
}: {
  readonly belief: BeliefView
  readonly history?: readonly BeliefView[]
}): string {
  const older = history
    .filter(({ id }) => id !== belief.id)
    .map(({ id, version, created_at, content }) => `${created_at}  ${version}  ${oneLine(id)}  ${oneLine(content)}\n`)
  return factsText(belief) + (older.length === 0 ? '' : `\nother versions\n${older.join('')}`)
}

export interface Gathered extends Answer {
  readonly total_tokens: number
  readonly max_tokens: number
  readonly expandable: readonly string[]
}

export function contextText({ total_tokens, max_tokens, expandable, ...answer }: Gathered, style: Style): string {
  const more =
    expandable.length === 0
      ? ''
      : style.dim(`${oneLine(`to expand: ${expandable.join(', ')}`)}
`)
  return `${answerText(answer, style)}${total_tokens} of ${max_tokens} tokens
${more}`
}

export interface Expanded {
  readonly additional_tokens: number
  readonly max_additional_tokens: number
  readonly [expansion: string]: unknown
}

const EXPANSIONS = ['derivation', 'contradictions', 'similar']

export function expandedText(answer: Expanded, style: Style): string {
  const sections = EXPANSIONS.flatMap(name => {
    const found = answer[name] as readonly (Partial<Ranked> & Partial<Chain['chain'][number]>)[] | undefined
    if (found === undefined) return []
    const lines = found.map(({ belief, belief_id, content_preview }) =>
      oneLine(`${belief?.id ?? belief_id}  ${belief?.content ?? content_preview}`),
    )
    return [
      `${style.bold(name)}
${lines
  .map(
    line => `  ${line}
`,
  )
  .join('')}`,
    ]
  })
  return `${sections.join('')}${answer.additional_tokens} of ${answer.max_additional_tokens} tokens
`
}

/** Answers that are read value by value. */
export function documentText(answer: Readonly<Record<string, unknown>>): string {
  return fieldsText(answer)
}

export interface SampleCounts {
  readonly agents: number
  readonly federations: number
  readonly trust_edges: number
  readonly beliefs: number
  readonly superseded: number
}

export function sampleText({ beliefs, superseded, agents, federations, trust_edges: edges }: SampleCounts): string {
  const of = `of ${agents} agents in ${federations} federations, ${edges} statements of trust`
  return `${beliefs} beliefs (and ${superseded} older versions) ${of}
`
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
  { title: 'HOLDER', cell: ({ belief }) => shortened(belief.holder_id ?? '-') },
  { title: 'ID', cell: ({ belief }) => belief.id },
  { title: 'BELIEF', cell: ({ belief }) => belief.content },
]

function shortened(text: string): string {
  return text.length <= HOLDER_WIDTH ? text : `${text.slice(0, HOLDER_WIDTH - 1)}…`
}

function reasonText({ rank, explanation, derivation_chain: chain }: Ranked, style: Style): string {
  const why = explanation?.summary === undefined ? '' : style.dim(`${rank}. ${oneLine(explanation.summary)}\n`)
  const steps = chain === undefined || chain.chain.length < 2 ? '' : chainText(chain)
  return why + steps
}

function factsText(belief: BeliefView): string {
  const { content, derivation, confidence, ...rest } = belief
  const sources = derivation.sources.map(
    ({ belief_id, external_ref, contribution_type }) => `${belief_id ?? external_ref} (${contribution_type})`,
  )
  const facts = {
    id: rest.id,
    version: rest.version,
    holder: rest.holder_id ?? 'not shown',
    visibility: [rest.visibility, ...rest.federation_ids].join(' '),
    domains: rest.domains.join(', '),
    created: rest.created_at,
    valid: `${rest.valid_from} to ${rest.valid_until ?? 'further notice'}`,
    confidence: Object.entries(confidence)
      .map(([name, value]) => `${name} ${value ?? 'unknown'}`)
      .join(', '),
    derivation: derivation.type,
    ...(sources.length > 0 && { sources: sources.join(', ') }),
    ...(rest.supersedes !== null && { supersedes: rest.supersedes }),
    ...(rest.superseded_by !== null && { superseded_by: rest.superseded_by }),
    ...(rest.deleted_at !== null && { deleted: rest.deleted_at }),
  }
  return `${fieldsText(facts)}\n${printable(content)}\n`
}
