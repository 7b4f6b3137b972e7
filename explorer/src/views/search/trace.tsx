import type { StageTrace } from '../../../../src/model/page.ts'
import { count } from '../../parts/format.ts'

/** The stages the question went through: how long each took, and what came out of it. */
export function Trace({ stages }: { readonly stages: readonly StageTrace[] }) {
  const total = stages.reduce((sum, { ms }) => sum + ms, 0)
  const hasDetails = stages.some(({ detail }) => detail !== undefined)
  return (
    <details class="trace">
      <summary>
        {stages.length} stages, {total.toFixed(1)} ms
      </summary>
      <section class="table-scroll" aria-label="Stages">
        <table>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col">Time</th>
              <th scope="col" class="number">
                Came out
              </th>
              {hasDetails && <th scope="col">Details</th>}
            </tr>
          </thead>
          <tbody>
            {stages.map(({ stage, ms, out, detail }) => (
              <tr key={stage}>
                <th scope="row">{stage}</th>
                <td>
                  <span class="trace-time">
                    <i aria-hidden="true" style={{ width: `${total > 0 ? (ms / total) * 100 : 0}%` }} />
                  </span>{' '}
                  {ms.toFixed(2)} ms
                </td>
                <td class="number">{count(out)}</td>
                {hasDetails && <td>{detail && <code class="trace-detail">{JSON.stringify(detail)}</code>}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
