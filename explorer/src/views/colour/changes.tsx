import type { Foretold } from '../../../../src/lenses/chroma/nodes/points.ts'
import { EntryLink } from '../../parts/entry-link.tsx'
import { count, day } from '../../parts/format.ts'

const SHOWN = 12

export interface ChangesProps {
  readonly foretold: Foretold
  /** Unix seconds. */
  readonly at: number
}

/** What happens to which node on which day, up to the moment shown; now, what comes next. */
export function Changes({ foretold: { items, now, totals }, at }: ChangesProps) {
  const isNow = at <= now
  const told = isNow ? items : items.filter(item => item.at <= at)
  // While it goes on in time, the latest stand first: those that the picture has just shown.
  const shown = isNow ? told.slice(0, SHOWN) : told.slice(-SHOWN).reverse()
  const all = totals.ascends + totals.rots + totals.fades
  return (
    <section class="card" aria-labelledby="colour-changes-title">
      <h2 id="colour-changes-title">
        {isNow ? 'What comes next' : `What will have happened by ${day(new Date(at * 1000).toISOString())}`}
      </h2>
      {shown.length === 0 ? (
        <p class="quiet">{isNow ? 'Nothing within a year.' : 'Nothing yet.'}</p>
      ) : (
        <ul class="colour-changes">
          {shown.map(item => (
            <li key={`${item.entry_id} ${item.event}`}>
              <span class="quiet">{day(new Date(item.at * 1000).toISOString())}</span>{' '}
              <EntryLink id={item.entry_id}>{item.label || item.entry_id}</EntryLink> {item.event}
            </li>
          ))}
        </ul>
      )}
      <p class="quiet small">
        Within a year {count(totals.fades)} fade, {count(totals.rots)} rot, {count(totals.ascends)} ascend
        {all > items.length && `; the first ${count(items.length)} are named here`}.
      </p>
    </section>
  )
}
