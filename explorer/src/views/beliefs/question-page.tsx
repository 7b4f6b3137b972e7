import { useState } from 'preact/hooks'
import type { QueryResult } from '../../../../src/lenses/beliefs/model.ts'
import { Busy } from '../../parts/busy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { count, counted, moment } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { addressOf, goTo } from '../../shell/router.ts'
import { viewer } from '../../shell/session.ts'
import { AskedNodes } from './asked-nodes.tsx'
import { Result } from './result.tsx'
import { questionOf } from './wire.ts'
import { beliefAddress } from './words.ts'

export interface QuestionPageProps {
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
