import type { Belief } from '../../../../src/lenses/beliefs/model.ts'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { moment } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { Confidence } from './confidence.tsx'
import { Contradictions } from './contradictions.tsx'
import { Derivation } from './derivation.tsx'
import { StandingReasons } from './standing.tsx'
import { Timeline } from './timeline.tsx'
import type { Got } from './wire.ts'
import { beliefAddress, contentOf, holderOf, sourceName } from './words.ts'

export interface BeliefPageProps {
  readonly id: string
  readonly question: string
}

export function BeliefPage({ id, question }: BeliefPageProps) {
  const { value, error, isLoading } = useAnswer<Got>('beliefs.get', { belief_id: id, include_superseded: true })
  return (
    <div class="stack beliefs">
      <p>
        <a href={beliefAddress([], question)}>← {question === '' ? 'All beliefs' : `Beliefs for “${question}”`}</a>
      </p>
      {error !== null && <Failure error={error} />}
      {value === null && isLoading && <Busy what="Reading the belief" />}
      {value !== null && <Page got={value} question={question} />}
    </div>
  )
}

function Page({
  got: { belief, source, history = [belief] },
  question,
}: {
  readonly got: Got
  readonly question: string
}) {
  return (
    <>
      <h1 class="beliefs-content">{contentOf(belief)}</h1>
      <Facts belief={belief} from={sourceName(source)} />
      <div class="split">
        <section class="card" aria-labelledby="beliefs-sureness">
          <h2 id="beliefs-sureness">How sure it is</h2>
          <Confidence of={belief.confidence} />
        </section>
        <section class="card" aria-labelledby="beliefs-origin">
          <h2 id="beliefs-origin">What it rests on</h2>
          <Derivation of={belief} question={question} />
        </section>
      </div>
      <section class="card" aria-labelledby="beliefs-times">
        <h2 id="beliefs-times">What held when</h2>
        <Timeline key={belief.id} history={history} />
      </section>
      {question !== '' && (
        <section class="card" aria-labelledby="beliefs-standing">
          <h2 id="beliefs-standing">Its place for “{question}”</h2>
          <StandingReasons id={belief.id} question={question} />
        </section>
      )}
      <section class="card" aria-labelledby="beliefs-against">
        <h2 id="beliefs-against">What speaks against it</h2>
        <Contradictions id={belief.id} question={question} />
      </section>
    </>
  )
}

const SEEN_BY = { public: 'everybody', private: 'its holder alone' } as const

function Facts({ belief, from }: { readonly belief: Belief; readonly from: string }) {
  const { id, version, visibility, federation_ids, domains, created_at } = belief
  return (
    <dl class="beliefs-facts">
      <dt>Held by</dt>
      <dd>{holderOf(belief)}</dd>
      <dt>Seen by</dt>
      <dd>
        {visibility === 'federated' ? `members of ${federation_ids.join(', ')}` : SEEN_BY[visibility]}, here from {from}
      </dd>
      <dt>Domains</dt>
      <dd>{domains.length === 0 ? 'none named' : domains.join(', ')}</dd>
      <dt>Version</dt>
      <dd>
        {version}, written {moment(created_at)}, <code>{id}</code>
      </dd>
    </dl>
  )
}
