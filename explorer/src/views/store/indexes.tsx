import type { Status } from '../../../../src/engine/engine.ts'
import { bytes, count } from '../../parts/format.ts'

export function Indexes({ indexes }: Pick<Status, 'indexes'>) {
  return (
    <section class="card" aria-label="Indexes">
      <h2>Indexes</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Index</th>
            <th scope="col">Rows</th>
            <th scope="col">Memory</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map(index => (
            <tr key={index.name}>
              <th scope="row">{index.name}</th>
              <td>{index.rows === null ? '–' : count(index.rows)}</td>
              <td>{index.bytes === null ? '–' : bytes(index.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
