import { useState } from 'preact/hooks'
import { EntryLink } from '../../parts/entry-link.tsx'
import { count, share } from '../../parts/format.ts'
import type { Cloud } from './cloud.ts'
import { LIVES, type Life, type Outlooks, outlookAt } from './outlook.ts'
import { Swatch } from './swatch.tsx'

const ROWS = 20

export interface NodesProps {
  readonly cloud: Cloud
  readonly outlooks: Outlooks
  /** Unix seconds. */
  readonly at: number
  readonly when: string
}

/** The nodes of the picture as a table, as they are at the moment that it shows. */
export function Nodes({ cloud: { points }, outlooks, at, when }: NodesProps) {
  const [life, setLife] = useState<Life | ''>('')
  const [page, setPage] = useState(0)
  const wanted = life === '' ? -1 : LIVES.indexOf(life)
  const rows = wanted < 0 ? points : points.filter((_, index) => outlooks.lives[index] === wanted)
  const pages = Math.max(1, Math.ceil(rows.length / ROWS))
  const current = Math.min(page, pages - 1)
  return (
    <section class="card" aria-labelledby="colour-nodes-title">
      <h2 id="colour-nodes-title">Nodes {when}</h2>
      <div class="row">
        <label class="field">
          <span>State</span>
          <select
            value={life}
            onChange={event => {
              setLife(event.currentTarget.value as Life | '')
              setPage(0)
            }}
          >
            <option value="">any</option>
            {LIVES.map(name => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={current === 0} onClick={() => setPage(current - 1)}>
          Back
        </button>
        <button type="button" disabled={current === pages - 1} onClick={() => setPage(current + 1)}>
          On
        </button>
        <span class="quiet small" role="status">
          {count(rows.length)} nodes, page {count(current + 1)} of {count(pages)}
        </span>
      </div>
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">L, a, b</th>
              <th scope="col">State</th>
              <th scope="col">Strength</th>
              <th scope="col">Health</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(current * ROWS, (current + 1) * ROWS).map(point => {
              const outlook = outlookAt(point, at)
              return (
                <tr key={point.entry_id}>
                  <th scope="row">
                    <Swatch color={point.color} />
                    <EntryLink id={point.entry_id}>{point.label || point.entry_id}</EntryLink>
                  </th>
                  <td>{point.color.map(value => value.toFixed(0)).join(', ')}</td>
                  <td>{outlook.life}</td>
                  <td>{share(outlook.strength)}</td>
                  <td>{share(outlook.health)}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
