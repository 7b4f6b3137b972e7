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
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Memory
            </th>
          </tr>
        </thead>
        <tbody>
          {indexes.map(index => (
            <tr key={index.name}>
              <th scope="row">{index.name}</th>
              <td class="number">{index.rows === null ? '–' : count(index.rows)}</td>
              <td class="number">{index.bytes === null ? '–' : bytes(index.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
