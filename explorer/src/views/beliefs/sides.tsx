import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { Confidence } from './confidence.tsx'
import { Turning } from './turning.tsx'
import { type Contradictions, type Got, LOOKING, questionLike, questionOf, type Standing } from './wire.ts'
import { beliefAddress, contentOf, holderOf, validity } from './words.ts'

export interface SidesProps {
  readonly ids: readonly [one: string, other: string]
  readonly question: string
}

/** Two beliefs next to each other: how sure each is, how they oppose, and what would turn the order round. */
export function Sides({ ids: [one, other], question }: SidesProps) {
  const first = useAnswer<Got>('beliefs.get', { belief_id: one })
  const second = useAnswer<Got>('beliefs.get', { belief_id: other })
  const asked = question === '' ? questionLike(first.value?.belief.content ?? '') : question
  const standing = useAnswer<Standing>(
    'beliefs.explain',
    asked.trim() === '' ? null : { belief_id: one, other_id: other, query: questionOf(asked, '', 10) },
  )
  const error = first.error ?? second.error ?? standing.error
  return (
    <div class="stack beliefs">
      <p>
        <a href={beliefAddress([one], question)}>← The belief</a>
      </p>
      <h1>Both sides</h1>
      {error !== null && <Failure error={error} />}
      <div class="beliefs-sides">
        {[first, second].map(({ value, isLoading }, at) =>
          value === null ? (
            isLoading && <Busy key={at} what="Reading the belief" />
          ) : (
            <Side key={at} got={value} question={question} />
          ),
        )}
      </div>
      <Opposition one={one} other={other} />
      {standing.value !== null && <Turning of={standing.value} question={question} />}
    </div>
  )
}

function Side({ got: { belief }, question }: { readonly got: Got; readonly question: string }) {
  return (
    <section class="card" aria-label={belief.id}>
      <p class="text">
        <a href={beliefAddress([belief.id], question)}>{contentOf(belief)}</a>
      </p>
      <p class="quiet small">
        held by <strong>{holderOf(belief)}</strong>, by {belief.derivation.type}, valid {validity(belief)}
      </p>
      <Confidence of={belief.confidence} />
    </section>
  )
}

/** How the detector words it, where it is among those that speak against the first. */
function Opposition({ one, other }: { readonly one: string; readonly other: string }) {
  const { value } = useAnswer<Contradictions>('beliefs.contradictions', {
    belief_id: one,
    options: { scope: LOOKING.scope, limit: 100 },
  })
  const found = value?.contradictions.find(({ belief }) => belief.id === other)
  return found === undefined ? null : <p class="text">{found.contradiction.text}</p>
}
