import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { count, score } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { type Contradictions as Found, LOOKING } from './wire.ts'
import { beliefAddress, contentOf, holderOf } from './words.ts'

const SHOWN = 10

export interface ContradictionsProps {
  readonly id: string
  readonly question: string
}

export function Contradictions({ id, question }: ContradictionsProps) {
  const { value, error } = useAnswer<Found>('beliefs.contradictions', {
    belief_id: id,
    options: { scope: LOOKING.scope, limit: SHOWN },
  })
  if (error !== null) return <Failure error={error} />
  if (value === null) return <Busy what="Looking for what speaks against it" />
  const { contradictions, total_count, detector, warnings } = value
  return (
    <>
      {warnings.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
      {total_count === 0 && <p class="quiet">Nothing that you may see.</p>}
      <ul class="beliefs-against">
        {contradictions.map(({ belief, contradiction }) => (
          <li key={`${belief.id} ${belief.holder_id}`}>
            <p class="text">{contentOf(belief)}</p>
            <p class="quiet small">
              {contradiction.type}, {score(contradiction.score)}, held by {holderOf(belief)} ·{' '}
              <a href={beliefAddress([id, belief.id], question)} aria-label={`Side by side with ${belief.id}`}>
                Side by side
              </a>
            </p>
          </li>
        ))}
      </ul>
      {total_count > contradictions.length && (
        <p class="quiet small">{count(total_count - contradictions.length)} more are left out.</p>
      )}
      <p class="quiet small">
        Found by {detector.name}: {detector.note}
      </p>
    </>
  )
}
