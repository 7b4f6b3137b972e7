import { score } from '../../parts/format.ts'
import { Busy, Failure } from '../../parts/parts.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { Confidence } from './belief-page.tsx'
import {
  beliefAddress,
  type Contradictions,
  contentOf,
  type Got,
  holderOf,
  LOOKING,
  plain,
  questionLike,
  questionOf,
  type Standing,
  type Versus,
  validity,
} from './wire.ts'

interface TurningProps {
  readonly of: Standing
  /** Empty: what the first one says was asked for. */
  readonly question: string
}

/** Which of the two is ranked first for a question, by which parts of the score, and the smallest change that would swap them. */
function Turning({ of: { versus, hints = [] }, question }: TurningProps) {
  return (
    <section class="card" aria-labelledby="beliefs-turning">
      <h2 id="beliefs-turning">What would turn them</h2>
      <p class="quiet small">
        {question === '' ? 'For a question that says what the first one says.' : `For “${question}”.`}
      </p>
      {versus !== undefined && <Gap of={versus} />}
      {hints.length > 0 && (
        <>
          <h3>What would lift the first</h3>
          <ul>
            {hints.map(({ dimension, target, rank }) => (
              <li key={dimension}>
                {plain(dimension)} at {score(target)}: number {rank}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function Gap({
  of: { dropped_by, ahead, behind, gap = 0, parts = {}, smallest_change: change },
}: {
  readonly of: Versus
}) {
  if (dropped_by !== undefined) return <p>The second is not among the matches. {dropped_by.reason}</p>
  if (ahead === undefined) return <p>The first is not among the matches.</p>
  return (
    <>
      <p>
        <strong>{ahead}</strong> is ranked above <strong>{behind}</strong> by {score(gap)}.
      </p>
      <div class="table-scroll">
        <table>
          <caption class="visually-hidden">What each part gives to the difference</caption>
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="number">
                Difference
              </th>
              <th scope="col" class="number">
                Gives
              </th>
              {change && (
                <th scope="col" class="number">
                  Weight that turns them
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {Object.entries(parts).map(([name, { difference, contribution }]) => (
              <tr key={name}>
                <th scope="row">{name === 'semantic' ? 'meaning' : name}</th>
                <td class="number">{signed(difference)}</td>
                <td class="number">{signed(contribution)}</td>
                {change && <td class="number">{score(change.weights[name as keyof typeof change.weights])}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!change && <p>{behind} is better in no part: no weights would put it first.</p>}
    </>
  )
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${score(Math.abs(value))}`
}

interface ComparedBeliefsProps {
  readonly ids: readonly [one: string, other: string]
  readonly question: string
}

/** Two beliefs next to each other: how sure each is, how they oppose, and what would turn the order round. */
export function ComparedBeliefs({ ids: [one, other], question }: ComparedBeliefsProps) {
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
      <Contradiction one={one} other={other} />
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
function Contradiction({ one, other }: { readonly one: string; readonly other: string }) {
  const { value } = useAnswer<Contradictions>('beliefs.contradictions', {
    belief_id: one,
    options: { scope: LOOKING.scope, limit: 100 },
  })
  const found = value?.contradictions.find(({ belief }) => belief.id === other)
  return found === undefined ? null : <p class="text">{found.contradiction.text}</p>
}
