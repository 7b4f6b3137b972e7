/** Beliefs as people are shown them: answers to queries, one belief, and what it was derived from. */
import { printable } from '../../../base/printable.ts'
import {
  all,
  type Columns,
  each,
  factsText,
  having,
  lines,
  moreText,
  notes,
  type Print,
  record,
  rows,
} from './answer.ts'
import { cut, oneLine } from './style.ts'

interface Belief {
  readonly id: string
  readonly content: string
  readonly holder_id: string | null
  readonly visibility: string
  readonly federation_ids: readonly string[]
  readonly valid_from: string
  readonly valid_until: string | null
  readonly confidence: Readonly<Record<string, number | null>>
  readonly derivation: { readonly sources: readonly Readonly<Record<string, string | null>>[] }
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
  readonly belief: Belief
  readonly source: { readonly kind: string; readonly id: string | null }
  readonly derivation_chain?: Chain
}

/** What an answer says beside its beliefs; a stream says it at the end. */
export interface AnswerEnd {
  readonly next_cursor?: string | null
  /** Where other nodes were asked. */
  readonly coverage?: { readonly nodes?: readonly { readonly responded: boolean }[] }
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

const reasonText = all(
  each(having('explanation.summary'), '{rank}. {explanation.summary}', 'note'),
  each(having('contradiction'), '{rank}. {contradiction.type}, {contradiction.score 2}: {contradiction.text}', 'note'),
  ({ derivation_chain: chain }: Ranked) => (chain === undefined || chain.chain.length < 2 ? '' : chainText(chain)),
)

const COUNT = '{total_count}{, as of |as_of|}'

const notesText: Print<AnswerEnd> = all<AnswerEnd>(
  each('errors', 'a part of the answer: {|node|: }{code}: {message}', 'note'),
  each(
    ({ coverage }: AnswerEnd) => coverage?.nodes?.filter(({ responded }) => responded),
    '{node} answered with {results}{ of federation |federation|}, at {answered_at} after {elapsed_ms} ms',
    'note',
  ),
  each('conflicts', '{contradiction_type} conflict: {belief_ids.0} and {belief_ids.1}: {resolution_reason}', 'note'),
  each('warnings', '{message}', 'note'),
  ({ next_cursor }, shown) => notes(moreText(next_cursor, shown), shown),
)

export const answerText: Print<Answer> = all<Answer>(
  rows('beliefs', RANKED, 'no beliefs found'),
  ({ beliefs }, shown) => beliefs.map(one => reasonText(one, shown)).join(''),
  each(having('beliefs.length'), `{beliefs.length} of ${COUNT}`),
  notesText,
)

export const contradictionsText: Print<AnswerEnd & { readonly contradictions: readonly Ranked[] }> = all(
  ({ contradictions: beliefs, ...rest }, shown) => answerText({ ...rest, beliefs }, shown),
  each('detector', '{note}', 'note'),
)

/** How a stream ended, of which so many beliefs were printed. */
export const streamEndText: Print<AnswerEnd & { readonly count: number }> = all<AnswerEnd & { readonly count: number }>(
  each(having('count'), `{count} of ${COUNT}`),
  ({ count }) => (count === 0 ? 'no beliefs found\n' : ''),
  notesText,
)

export interface Batch {
  readonly results: readonly { readonly ok: boolean; readonly result?: Answer }[]
}

export const batchText: Print<Batch> = ({ results }, shown) =>
  results
    .map(one =>
      one.result === undefined ? each('error', '{code}: {message}')(one, shown) : answerText(one.result, shown),
    )
    .join('\n')

export const contextText: Print<Answer> = all<Answer>(
  answerText,
  each('', '{total_tokens} of {max_tokens} tokens'),
  each(having('expandable.length'), 'to expand: {expandable}', 'note'),
)

const section = (name: string, template: string): Print<object> => {
  return (answer, shown) => (name in answer ? `${shown.style.bold(name)}\n${each(name, template)(answer, shown)}` : '')
}

export const expandedText: Print<object> = all(
  section('derivation', '  {belief_id}  {content_preview}'),
  section('contradictions', '  {belief.id}  {belief.content}'),
  section('similar', '  {belief.id}  {belief.content}'),
  each('', '{additional_tokens} of {max_additional_tokens} tokens'),
)

export interface WithHistory {
  readonly belief: Belief
  readonly history?: readonly Belief[]
}

export const beliefText: Print<WithHistory> = all<WithHistory>(
  record<Belief>('belief', {
    id: 'id',
    version: 'version',
    holder: ({ holder_id }) => holder_id ?? 'not shown',
    visibility: ({ visibility, federation_ids }) => [visibility, ...federation_ids].join(' '),
    domains: 'domains',
    created: 'created_at',
    valid: ({ valid_from, valid_until }) => `${valid_from} to ${valid_until ?? 'further notice'}`,
    confidence: ({ confidence }) => Object.entries(confidence).map(([name, value]) => `${name} ${value ?? 'unknown'}`),
    derivation: 'derivation.type',
    sources: ({ derivation: { sources } }) =>
      sources.length === 0
        ? null
        : sources.map(one => `${one['belief_id'] ?? one['external_ref']} (${one['contribution_type']})`),
    supersedes: 'supersedes',
    'superseded by': 'superseded_by',
    deleted: 'deleted_at',
  }),
  ({ belief }) => `\n${printable(belief.content)}\n`,
  ({ history = [] }) => (history.length > 1 ? '\nother versions\n' : ''),
  each(
    ({ belief, history = [] }) => history.filter(({ id }) => id !== belief.id),
    '{created_at}  {version}  {id}  {content}',
  ),
)

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

type Gains = Readonly<Record<string, { readonly contribution: number }>>

export interface Explained {
  readonly explanation?: Gains
  readonly versus?: Versus
}

/** Numbers are there where both match. */
interface Versus {
  readonly ahead?: string
  readonly parts?: Gains
  readonly smallest_change?: { readonly weights: Readonly<Record<string, number>> } | null
  readonly [more: string]: unknown
}

const partsText = rows<object>('parts', { PART: 'name', VALUE: 'value 4', WEIGHT: 'weight 4', GIVES: 'contribution 4' })

export const explanationText: Print<Explained> = all<Explained>(
  ({ explanation = {} }, shown) => {
    const names = ['semantic', 'confidence', 'trust', 'recency'].filter(name => name in explanation)
    const parts = names.map(name => ({ name, ...explanation[name] }))
    return parts.length === 0 ? '' : partsText({ parts }, shown)
  },
  each('', '{summary}'),
  each('dropped_by', 'not shown: {reason}'),
  each('hints', 'with {dimension} at {target} (now {current}) it would be number {rank}'),
  ({ versus }) => (versus === undefined ? '' : versusText(versus)),
)

function versusText({ parts, smallest_change: change, ...more }: Versus): string {
  const { ahead, behind, gap } = more
  if (ahead === undefined || parts === undefined) return factsText(more)
  const gains = Object.entries(parts).map(([name, { contribution: gives }]) => {
    return `${name} ${gives < 0 ? '' : '+'}${gives.toFixed(4)}`
  })
  const weights = Object.entries(change?.weights ?? {}).map(([name, weight]) => `${name} ${weight.toFixed(3)}`)
  return lines([
    oneLine(`${ahead} is before ${behind} by ${(gap as number).toFixed(4)}: ${gains.join(', ')}`),
    change
      ? `the nearest weights that swap them: ${weights.join(', ')}`
      : 'no weights of the four parts would swap them',
  ])
}
