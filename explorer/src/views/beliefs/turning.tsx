import { score } from '../../parts/format.ts'
import type { Standing, Versus } from './wire.ts'
import { plain } from './words.ts'

export interface TurningProps {
  readonly of: Standing
  /** Empty: what the first one says was asked for. */
  readonly question: string
}

/** Which stands first for a question, by what, and the least that would turn them round. */
export function Turning({ of: { versus, hints = [] }, question }: TurningProps) {
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
        <strong>{ahead}</strong> stands before <strong>{behind}</strong> by {score(gap)}.
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
