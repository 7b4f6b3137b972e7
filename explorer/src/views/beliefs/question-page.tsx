import { useState } from 'preact/hooks'
import type {
  EffectiveWeights,
  NodeCoverage,
  QueryResult,
  RankedBelief,
  ScoreComponents,
} from '../../../../src/lenses/beliefs/model.ts'
import { count, counted, moment, timeOfDay } from '../../parts/format.ts'
import { Busy, Empty, Failure } from '../../parts/parts.tsx'
import { ScoreBar } from '../../parts/score.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { addressOf, goTo } from '../../shell/router.ts'
import { viewer } from '../../shell/session.ts'
import { StandingReasons } from './belief-page.tsx'
import { beliefAddress, contentOf, holderOf, type PartError, questionOf, sourceName, validity } from './wire.ts'

/** Which other nodes were asked, what each gave or why it gave nothing, and when. */
function AskedNodes({ of: { coverage, errors, as_of, stale } }: { readonly of: QueryResult }) {
  const { nodes = [] } = coverage
  if (nodes.length === 0) return null
  const answered = nodes.filter(({ responded }) => responded).length
  return (
    <section class="card" aria-labelledby="beliefs-nodes">
      <h2 id="beliefs-nodes">Who answered</h2>
      <p class="quiet small">
        {count(answered)} of {counted(nodes.length, 'node')} that {nodes.length === 1 ? 'was' : 'were'} asked beside
        this one{stale && '; their answers are older than they should be, and are requested again'}.
      </p>
      <div class="table-scroll">
        <table class="beliefs-nodes">
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Asked for</th>
              <th scope="col">Gave</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map(node => (
              <Row key={`${node.node} ${node.federation}`} of={node} error={errorOf(errors, node)} asOf={as_of} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

interface RowProps {
  readonly of: NodeCoverage
  readonly error: PartError | undefined
  readonly asOf: string
}

function Row({ of: { node, federation, responded, results, more, answered_at, elapsed_ms }, error, asOf }: RowProps) {
  return (
    <tr>
      <th scope="row">{node}</th>
      <td>{federation === null ? 'what is public' : `federation ${federation}`}</td>
      <td>
        {responded && `${counted(results, 'belief')}${more ? ', and has more' : ''}`}
        {responded && error !== undefined && '; '}
        {error !== undefined && (
          <span class="warn" title={error.code}>
            {error.message}
          </span>
        )}
      </td>
      <td>
        {answered_at === null ? 'given up' : <When at={answered_at} asOf={asOf} />} after {count(elapsed_ms)} ms
      </td>
    </tr>
  )
}

/** The day goes without saying where it is that of the answer. */
function When({ at, asOf }: { readonly at: string; readonly asOf: string }) {
  const isSameDay = at.slice(0, 10) === asOf.slice(0, 10)
  return (
    <time dateTime={at} title={at}>
      {isSameDay ? timeOfDay(at) : moment(at)}
    </time>
  )
}

/** A node that is asked for several federations may fail for one of them. */
function errorOf(errors: QueryResult['errors'], { node, kind, federation }: NodeCoverage): PartError | undefined {
  // The cast: errors are those of `src/lenses/beliefs/nodes/gathered/gather-nodes.ts`, or bear no node.
  return (errors as unknown as readonly PartError[]).find(
    error =>
      error.node === node && error.source?.kind === kind && (federation === null || error.source.id === federation),
  )
}

export interface ResultProps {
  readonly ranked: RankedBelief
  readonly weights: EffectiveWeights
  readonly question: string
}

export function Result({ ranked: { belief, score, source, node }, weights, question }: ResultProps) {
  const [isOpen, setOpen] = useState(false)
  // What another node holds has no page here.
  const isHere = node === undefined
  return (
    <li class="card beliefs-result">
      <p class="text">
        {isHere ? <a href={beliefAddress([belief.id], question)}>{contentOf(belief)}</a> : contentOf(belief)}
      </p>
      <p class="quiet small">
        held by <strong>{holderOf(belief)}</strong>, {belief.visibility}, from {sourceName(source, node)}, valid{' '}
        {validity(belief)}
      </p>
      <ScoreBar score={score.final} components={given(score.components, weights)} />
      {isHere && question.trim() !== '' && (
        <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
          <summary>Why it has this rank</summary>
          {isOpen && <StandingReasons id={belief.id} question={question} />}
        </details>
      )}
    </li>
  )
}

/** What each part gives to the score. */
function given(parts: ScoreComponents, weights: EffectiveWeights): Readonly<Record<string, number>> {
  return {
    meaning: (parts.semantic_similarity ?? 0) * weights.semantic,
    confidence: parts.confidence_score * weights.confidence,
    trust: parts.trust_score * weights.trust,
    recency: parts.recency_score * weights.recency,
  }
}

interface QuestionPageProps {
  readonly question: string
  /** A day, `2026-03-01`; empty: whenever. */
  readonly at: string
}

const STEP = 10
/** More on one page is for programs. */
const MOST = 200

export function QuestionPage({ question, at }: QuestionPageProps) {
  const [limit, setLimit] = useState(STEP)
  const instant = at === '' || Number.isNaN(Date.parse(at)) ? '' : new Date(at).toISOString()
  const { value, error, isLoading } = useAnswer<QueryResult>('beliefs.query', questionOf(question, instant, limit))
  const isBlank = question.trim() === '' && at === ''
  return (
    <div class="stack beliefs">
      <h1>Beliefs</h1>
      <Ask key={`${question} ${at}`} question={question} at={at} />
      {isLoading && <Busy what="Asking" />}
      {error !== null && <Failure error={error} />}
      {value !== null && value.total_count === 0 && (isBlank ? <NoBeliefs /> : <NothingFound />)}
      {value !== null && value.total_count > 0 && (
        <>
          <p class="quiet small" role="status">
            {counted(value.total_count, 'belief')} that {viewer.value ?? 'you'} may see
            {question.trim() === '' ? '' : ', best first'}, as of {moment(value.as_of)}
            {value.partial && ` (not all of the answer: ${whyPartial(value)})`}
          </p>
          {value.warnings.map(({ code, message }) => (
            <p key={code + message} class="note">
              {message}
            </p>
          ))}
          <ol class="beliefs-results">
            {value.beliefs.map(ranked => (
              <Result
                key={`${ranked.belief.id} ${ranked.belief.holder_id} ${ranked.node ?? ''}`}
                ranked={ranked}
                weights={value.effective_weights}
                question={question}
              />
            ))}
          </ol>
          {value.beliefs.length < value.total_count && limit < MOST && (
            <button type="button" onClick={() => setLimit(limit + STEP)}>
              Show more of {count(value.total_count)}
            </button>
          )}
          <Conflicts of={value} question={question} />
        </>
      )}
      {value !== null && <AskedNodes of={value} />}
    </div>
  )
}

function whyPartial({ errors }: QueryResult): string {
  return errors.some(({ node }) => node !== undefined) ? 'see who answered' : 'time was up'
}

function Ask({ question, at }: QuestionPageProps) {
  return (
    <search>
      <form
        class="row"
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          goTo(addressOf('beliefs', [], { q: String(given.get('q') ?? '').trim(), at: String(given.get('at') ?? '') }))
        }}
      >
        <label class="field beliefs-ask">
          <span>Question</span>
          <input type="search" name="q" data-key="/" defaultValue={question} autocomplete="off" />
        </label>
        <label class="field small">
          <span>Valid on</span>
          <input type="date" name="at" defaultValue={at} />
        </label>
        <button type="submit" class="primary">
          Ask
        </button>
      </form>
    </search>
  )
}

function Conflicts({ of: { conflicts }, question }: { readonly of: QueryResult; readonly question: string }) {
  if (conflicts.length === 0) return null
  return (
    <section class="card" aria-labelledby="beliefs-conflicts">
      <h2 id="beliefs-conflicts">Contradictions in this answer</h2>
      <ul>
        {conflicts.map(({ belief_ids: ids, contradiction_type, resolution_reason }) => (
          <li key={ids.join(' ')}>
            <a href={beliefAddress(ids, question)}>{ids.join(' against ')}</a>{' '}
            <span class="quiet">
              {contradiction_type}; {resolution_reason}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function NothingFound() {
  return (
    <Empty title="Nothing that you may see answers that">
      <p>Others may see something: whoever looks is answered from what is theirs or shared with them.</p>
    </Empty>
  )
}

function NoBeliefs() {
  if (viewer.value !== null) return <Empty title={`There are no beliefs that ${viewer.value} may see`} />
  return (
    <Empty title="There are no beliefs that you may see">
      <p>
        A sample of twelve agents who do not agree: <code>querent beliefs sample</code>, in a store of its own
      </p>
    </Empty>
  )
}
