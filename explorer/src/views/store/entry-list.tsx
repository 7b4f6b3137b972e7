import { useEffect, useState } from 'preact/hooks'
import type { ListPage } from '../../../../src/engine/engine.ts'
import { Busy } from '../../parts/busy.tsx'
import { EntryLink, titleOf } from '../../parts/entry-link.tsx'
import { Failure } from '../../parts/failure.tsx'
import { count, moment } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import { asker } from '../../shell/session.ts'

const ORDERS = { updated: 'changed last', created: 'newest', accessed: 'used last', id: 'by id' } as const
type Order = keyof typeof ORDERS

const PAGE = 25

/** All entries, a page at a time: however many there are, so many are asked for. */
export function EntryList() {
  const [order, setOrder] = useState<Order>('updated')
  /** Where the pages before this one began. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  const first = (): void => setCursors([])
  useEffect(first, [asker.value])
  const cursor = cursors.at(-1)
  const { value, error, isLoading } = useAnswer<ListPage>('list', { order, limit: PAGE, ...(cursor && { cursor }) })
  const from = cursors.length * PAGE
  return (
    <section class="card" aria-label="Entries">
      <header class="row">
        <h2>Entries</h2>
        <label class="field small">
          <span>Order</span>
          <select
            name="order"
            value={order}
            onChange={event => {
              setOrder(event.currentTarget.value as Order)
              first()
            }}
          >
            {Object.entries(ORDERS).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </header>
      {error !== null && <Failure error={error} />}
      {isLoading && value === null && <Busy what="Listing" />}
      {value !== null && (
        <>
          <ul class="store-entries">
            {value.items.map(entry => (
              <li key={`${entry.holder} ${entry.id}`}>
                <EntryLink id={entry.id}>{titleOf(entry)}</EntryLink>
                <span class="quiet small">
                  {entry.collection} · {entry.kind} · {moment(entry.updated_at)}
                </span>
              </li>
            ))}
          </ul>
          <nav class="row" aria-label="Pages of entries">
            <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
              Before
            </button>
            <span class="quiet small" role="status">
              {value.total === 0
                ? 'none'
                : `${count(from + 1)} to ${count(from + value.items.length)} of ${count(value.total)}`}
            </span>
            <button
              type="button"
              disabled={value.cursor === null || isLoading}
              onClick={() => value.cursor !== null && setCursors([...cursors, value.cursor])}
            >
              Next
            </button>
          </nav>
        </>
      )}
    </section>
  )
}
