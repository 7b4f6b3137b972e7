/** Beliefs as people are shown them: answers to queries, one belief, and what it was derived from. */
import { printable } from '../../../base/printable.ts'
import { all, type Columns, each, facts, lines, moreText, notes, type Print, rows, shape } from './answer.ts'
import { oneLine } from './style.ts'

interface Chain {
  readonly chain: readonly {
    readonly belief_id: string
    readonly depth: number
    readonly contribution_type: string | null
    readonly content_preview: string
    readonly derivation_type: string
  }[]
}

/** What an answer says beside its beliefs; a stream says it at the end. */
interface AnswerEnd {
  readonly verdict?: string
  readonly verdict_reason?: string | null
  readonly nearest?: readonly object[]
  readonly next_cursor?: string | null
  /** Where other nodes were asked. */
  readonly coverage?: { readonly nodes?: readonly { readonly responded: boolean }[] }
}

interface Answer extends AnswerEnd {
  readonly beliefs: readonly { readonly derivation_chain?: Chain }[]
}

const PARTS = ['semantic_similarity', 'confidence_score', 'trust_score', 'recency_score']
const RANKED: Columns = [
  ...['=rank', 'SCORE=score.final 3'],
  ...['MEANING', 'CONFIDENCE', 'TRUST', 'RECENCY'].map((title, at) => `${title}=score.components.${PARTS[at]} 3`),
  ...['FROM=source.id|source.kind', 'HOLDER=belief.holder_id 14', 'ID=belief.id', 'BELIEF=belief.content'],
]

const reasonText = all(
  each('?explanation.summary', '{rank}. {explanation.summary}', 'note'),
  each('?contradiction', '{rank}. {contradiction.type}, {contradiction.score 2}: {contradiction.text}', 'note'),
  ({ derivation_chain: chain }: Answer['beliefs'][number]) => (chain && chain.chain.length > 1 ? chainText(chain) : ''),
)

const COUNT = '{total_count}{, as of |as_of|}'

const notesText: Print<AnswerEnd> = all<AnswerEnd>(
  each('?verdict_reason', '{verdict_reason}', 'note'),
  each('nearest', 'near: {belief.id}  {belief.content}', 'note'),
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
  each('?beliefs.length', `{beliefs.length} of ${COUNT}`),
  notesText,
)

export const contradictionsText: Print<AnswerEnd & { readonly contradictions: Answer['beliefs'] }> = all(
  ({ contradictions: beliefs, ...rest }, shown) => answerText({ ...rest, beliefs }, shown),
  each('detector', '{note}', 'note'),
)

/** How a stream ended, of which so many beliefs were printed. */
export const streamEndText: Print<AnswerEnd & { readonly count: number }> = all<AnswerEnd & { readonly count: number }>(
  each('?count', `{count} of ${COUNT}`),
  ({ count }) => (count === 0 ? 'no beliefs found\n' : ''),
  notesText,
)

export const batchText: Print<{ readonly results: readonly { readonly result?: Answer }[] }> = ({ results }, shown) =>
  results
    .map(one => (one.result ? answerText(one.result, shown) : each('error', '{code}: {message}')(one, shown)))
    .join('\n')

export const contextText: Print<Answer> = all<Answer>(
  answerText,
  each('', '{total_tokens} of {max_tokens} tokens'),
  each('?expandable.length', 'to expand: {expandable}', 'note'),
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

interface WithHistory {
  readonly belief: { readonly id: string; readonly content: string }
  readonly history?: readonly { readonly id: string }[]
}

const BELIEF: Columns = [
  ...['id', 'version', 'holder=holder_id', 'visibility', 'federations=federation_ids', 'domains', 'created=created_at'],
  ...['valid from=valid_from', 'valid until=valid_until', 'confidence', 'derivation=derivation.type'],
  ...['supersedes', 'superseded by=superseded_by', 'deleted=deleted_at'],
]

export const beliefText: Print<WithHistory> = all<WithHistory>(
  facts('belief', BELIEF),
  each('belief.derivation.sources', 'rests on {|belief_id|}{|external_ref|} ({contribution_type})'),
  ({ belief }) => `\n${printable(belief.content)}\n`,
  ({ history = [] }) => (history.length > 1 ? '\nother versions\n' : ''),
  each(
    ({ belief, history = [] }: WithHistory) => history.filter(({ id }) => id !== belief.id),
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

interface Explained {
  readonly explanation?: Readonly<Record<string, object>>
  /** Numbers are there where both match. */
  readonly versus?: { readonly parts?: object; readonly smallest_change?: object | null }
}

export const explanationText: Print<Explained> = all<Explained>(
  ({ explanation = {} }, shown) => {
    const names = ['semantic', 'confidence', 'trust', 'recency'].filter(name => name in explanation)
    const parts = names.map(name => ({ name, ...explanation[name] }))
    const columns = ['PART=name', 'value 4', 'weight 4', 'GIVES=contribution 4']
    return parts.length === 0 ? '' : rows('', columns)(parts, shown)
  },
  each('', '{summary}'),
  each('dropped_by', 'not shown: {reason}'),
  each('hints', 'with {dimension} at {target} (now {current}) it would be number {rank}'),
  ({ versus }, shown) => {
    if (versus?.parts === undefined) return versus === undefined ? '' : shape(versus, shown)
    const gains = Object.keys(versus.parts).map(name => `${name} {parts.${name}.contribution +4}`)
    const swap = versus.smallest_change ? 'the nearest weights that swap them: {smallest_change.weights}' : NO_SWAP
    return all(each('', `{ahead} is before {behind} by {gap 4}: ${gains.join(', ')}`), each('', swap))(versus, shown)
  },
)

const NO_SWAP = 'no weights of the four parts would swap them'
