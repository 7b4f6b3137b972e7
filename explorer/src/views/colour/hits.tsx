import type { DetailedAnswer } from '../../../../src/lenses/chroma/model.ts'
import { Empty } from '../../parts/empty.tsx'
import { EntryLink } from '../../parts/entry-link.tsx'
import { score } from '../../parts/format.ts'
import { Swatch } from './swatch.tsx'

const NUMBERS = ['Score', 'Distance', 'Relevance', 'Recency', 'Strength']

/** The hits of the question, best first; the numbers stand at the rings of the picture too. */
export function Hits({ answer: { results, query, warnings } }: { readonly answer: DetailedAnswer }) {
  return (
    <section class="card colour-hits" aria-labelledby="colour-hits-title">
      <h2 id="colour-hits-title">Hits</h2>
      <p class="quiet small">
        Asked for {query.hashtags.join(' ')}
        {query.completed_hashtags.length > 0 && `, of which ${query.completed_hashtags.join(' ')} were added`}
      </p>
      {warnings.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
      {results.length === 0 ? (
        <Empty title="Nothing lies near enough" />
      ) : (
        <div class="table-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">#</th>
                <th scope="col">Node</th>
                {NUMBERS.map(name => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {results.map((row, at) => (
                <tr key={row.entry_id}>
                  <td class="number">{at + 1}</td>
                  <th scope="row">
                    <Swatch color={[row.color_L, row.color_a, row.color_b]} />
                    <EntryLink id={row.entry_id}>{row.label || row.entry_id}</EntryLink>
                  </th>
                  <td class="number">{score(row.score)}</td>
                  <td class="number">{row.distance.toFixed(1)}</td>
                  <td class="number">{score(row.relevance)}</td>
                  <td class="number">{score(row.recency)}</td>
                  <td class="number">{score(row.strength_norm)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
