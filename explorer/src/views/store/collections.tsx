import type { Status } from '../../../../src/engine/engine.ts'
import { Empty } from '../../parts/empty.tsx'
import { count } from '../../parts/format.ts'
import { addressOf } from '../../shell/router.ts'

export function Collections({ collections }: Pick<Status, 'collections'>) {
  const most = Math.max(...collections.map(one => one.count), 1)
  return (
    <section class="card" aria-label="Collections">
      <h2>Collections</h2>
      {collections.length === 0 && (
        <Empty title="There is nothing here yet">
          <p>
            Add what you know: <code>querent add notes</code>
          </p>
        </Empty>
      )}
      <ul class="store-collections">
        {collections.map(({ value, count: entries }) => (
          <li key={value}>
            <a href={addressOf('search', [], { collection: value })}>{value}</a>
            <span class="store-bar" aria-hidden="true">
              <i style={{ width: `${(entries / most) * 100}%` }} />
            </span>
            <span>{count(entries)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
