/** Beliefs as people are shown them: answers to queries, one belief, and what it was derived from. */
import { printable } from '../../../base/printable.ts'
import { type Columns, factsText, lines, moreText, notes, type Print, rows, type Shown } from './answer.ts'
import { cut, oneLine } from './style.ts'

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

export interface Chain {
  readonly chain: readonly {
    readonly belief_id: string
    readonly depth: number
    readonly contribution_type: string | null
    readonly content_preview: string
    readonly derivation_type: string
  }[]
}

interface Ranked {
  readonly belief: BeliefView
  readonly rank: number
  readonly source: { readonly kind: string; readonly id: string | null }
  readonly explanation?: { readonly summary?: string }
  readonly derivation_chain?: Chain
  /** Of contradictions. */
  readonly contradiction?: { readonly type: string; readonly score: number; readonly text: string }
}

/** What an answer says beside its beliefs; a stream says it at the end. */
export interface AnswerEnd {
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
  readonly errors?: readonly { readonly code: string; readonly message: string; readonly node?: string }[]
  /** Where other nodes were asked. */
  readonly coverage?: { readonly nodes?: readonly AskedNode[] }
}

interface AskedNode {
  readonly node: string
  readonly federation: string | null
  readonly responded: boolean
  readonly results: number
  readonly answered_at: string | null
  readonly elapsed_ms: number
}

export interface Answer extends AnswerEnd {
  readonly beliefs: readonly Ranked[]
}

const HOLDER_WIDTH = 14

const RANKED: Columns<Ranked> = {
  '': 'rank',
  SCORE: 'score.final 3',
  MEANING: 'score.components.semantic_similarity 3',
  CONFIDENCE: 'score.components.confidence_score 3',
  TRUST: 'score.components.trust_score 3',
  RECENCY: 'score.components.recency_score 3',
  FROM: ({ source }) => source.id ?? source.kind,
  HOLDER: ({ belief }) => cut(belief.holder_id ?? '-', HOLDER_WIDTH),
  ID: 'belief.id',
  BELIEF: 'belief.content',
}

/** Of an answer whose beliefs are the list of this name. */
function answerOf(list: string): Print<Answer> {
  return rows<Ranked, Answer>(list, RANKED, 'no beliefs found', (answer, shown) => {
    const found = (answer as unknown as Readonly<Record<string, readonly Ranked[]>>)[list] ?? []
    const reasons = found.map(one => reasonText(one, shown)).join('')
    return reasons + (found.length === 0 ? '' : countOf(found.length, answer)) + notes(notesOf(answer, shown), shown)
  })
}

export const answerText: Print<Answer> = answerOf('beliefs')

export const contradictionsText: Print<AnswerEnd & { readonly detector: { readonly note: string } }> = (
  answer,
  shown,
) => answerOf('contradictions')(answer as unknown as Answer, shown) + notes([answer.detector.note], shown)

/** How a stream ended, of which so many beliefs were printed. */
export function streamEndText(count: number, end: AnswerEnd): string {
  return (count === 0 ? 'no beliefs found\n' : countOf(count, end)) + lines(notesOf(end, { hasMore: false }))
}

function countOf(count: number, { total_count, as_of }: AnswerEnd): string {
  return `${count} of ${total_count}${as_of === undefined ? '' : `, as of ${as_of}`}\n`
}

function notesOf(end: AnswerEnd, shown: Pick<Shown, 'hasMore'>): readonly string[] {
  const { next_cursor: next, conflicts = [], warnings, errors = [], coverage } = end
  return [
    ...errors.map(({ code, message, node }) => {
      return `a part of the answer: ${node === undefined ? '' : `${node}: `}${code}: ${message}`
    }),
    ...(coverage?.nodes ?? []).filter(({ responded }) => responded).map(answered),
    ...conflicts.map(({ belief_ids, contradiction_type, resolution_reason }) => {
      return `${contradiction_type} conflict: ${belief_ids.join(' and ')}: ${resolution_reason}`
    }),
    ...warnings.map(({ message }) => message),
    ...moreText(next, shown),
  ].map(oneLine)
}

function answered({ node, federation, results, answered_at, elapsed_ms }: AskedNode): string {
  const of = federation === null ? '' : ` of federation ${federation}`
  return `${node} answered with ${results}${of}, at ${answered_at} after ${elapsed_ms} ms`
}

function reasonText({ rank, explanation, derivation_chain: chain, contradiction }: Ranked, shown: Shown): string {
  const { summary } = explanation ?? {}
  const reasons = [
    ...(summary === undefined ? [] : [`${rank}. ${summary}`]),
    ...(contradiction === undefined
      ? []
      : [`${rank}. ${contradiction.type}, ${contradiction.score.toFixed(2)}: ${contradiction.text}`]),
  ]
  return notes(reasons, shown) + (chain === undefined || chain.chain.length < 2 ? '' : chainText(chain))
}

export interface Batch {
  readonly results: readonly (
    | { readonly ok: true; readonly result: Answer }
    | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }
  )[]
}

export const batchText: Print<Batch> = ({ results }, shown) =>
  results
    .map(one => (one.ok ? answerText(one.result, shown) : `${one.error.code}: ${oneLine(one.error.message)}\n`))
    .join('\n')

export interface Gathered extends Answer {
  readonly total_tokens: number
  readonly max_tokens: number
  readonly expandable: readonly string[]
}

export const contextText: Print<Gathered> = (answer, shown) => {
  const { total_tokens, max_tokens, expandable } = answer
  const more = expandable.length === 0 ? [] : [`to expand: ${expandable.join(', ')}`]
  return `${answerText(answer, shown)}${total_tokens} of ${max_tokens} tokens\n${notes(more, shown)}`
}

export interface Expanded {
  readonly additional_tokens: number
  readonly max_additional_tokens: number
  readonly [expansion: string]: unknown
}

export const expandedText: Print<Expanded> = (answer, { style }) => {
  const sections = ['derivation', 'contradictions', 'similar'].flatMap(name => {
    const found = answer[name] as readonly (Partial<Ranked> & Partial<Chain['chain'][number]>)[] | undefined
    if (found === undefined) return []
    const texts = found.map(({ belief, belief_id, content_preview }) => {
      return `  ${oneLine(`${belief?.id ?? belief_id}  ${belief?.content ?? content_preview}`)}`
    })
    return [style.bold(name), ...texts]
  })
  return lines([...sections, `${answer.additional_tokens} of ${answer.max_additional_tokens} tokens`])
}

export interface WithHistory {
  readonly belief: BeliefView
  readonly history?: readonly BeliefView[]
}

export function beliefText({ belief, history = [] }: WithHistory): string {
  const older = history
    .filter(({ id }) => id !== belief.id)
    .map(({ id, version, created_at, content }) => `${created_at}  ${version}  ${oneLine(id)}  ${oneLine(content)}`)
  return factsOf(belief) + (older.length === 0 ? '' : lines(['', 'other versions', ...older]))
}

function factsOf({ content, derivation, confidence, ...rest }: BeliefView): string {
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
  return `${factsText(facts)}\n${printable(content)}\n`
}

/** The belief itself first; each line is what the one before rests on, and as what if not as primary. */
export function chainText({ chain }: Chain): string {
  return lines(
    chain.map(({ belief_id, depth, contribution_type: contribution, content_preview, derivation_type }) => {
      const as = contribution === null || contribution === 'primary' ? '' : ` (${contribution})`
      const name = `${'  '.repeat(depth)}${depth === 0 ? '' : '← '}${oneLine(belief_id)}${as}`
      return `${name}  ${derivation_type}  ${oneLine(content_preview)}`
    }),
  )
}

interface Part {
  readonly name: string
  readonly contribution: number
}

export interface Explained {
  readonly summary: string
  readonly dropped_by?: { readonly stage: string; readonly reason: string } | null
  readonly explanation?: Readonly<Record<string, Omit<Part, 'name'>>>
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

const partsText = rows<Part>('parts', {
  PART: 'name',
  VALUE: 'value 4',
  WEIGHT: 'weight 4',
  GIVES: 'contribution 4',
})

export const explanationText: Print<Explained> = (answer, shown) => {
  const { summary, dropped_by: dropped, explanation = {}, hints = [], versus } = answer
  const parts = ['semantic', 'confidence', 'trust', 'recency'].flatMap(name => {
    return name in explanation ? [{ name, ...explanation[name] }] : []
  })
  const texts = [
    summary,
    ...(dropped ? [`not shown: ${dropped.reason}`] : []),
    ...hints.map(({ dimension, current, target, rank }) => {
      return `with ${dimension} at ${target} instead of ${current ?? 'unknown'} it would be number ${rank}`
    }),
  ].map(oneLine)
  return (parts.length > 0 ? partsText({ parts }, shown) : '') + lines(texts) + (versus ? versusText(versus) : '')
}

function versusText({ ahead, behind, gap, parts, smallest_change: change, ...more }: Versus): string {
  if (ahead === undefined || gap === undefined || parts === undefined) return factsText(more)
  const gains = Object.entries(parts).map(([name, { contribution: gives }]) => {
    return `${name} ${gives < 0 ? '' : '+'}${gives.toFixed(4)}`
  })
  const weights = Object.entries(change?.weights ?? {}).map(([name, weight]) => `${name} ${weight.toFixed(3)}`)
  const swap = change
    ? `the nearest weights that swap them: ${weights.join(', ')}`
    : 'no weights of the four parts would swap them'
  return lines([oneLine(`${ahead} is before ${behind} by ${gap.toFixed(4)}: ${gains.join(', ')}`), swap])
}
