import type { NodePoint } from '../../../../src/lenses/chroma/nodes/points.ts'
import { EntryLink } from '../../parts/entry-link.tsx'
import { count, day } from '../../parts/format.ts'
import type { Cloud } from './cloud.ts'
import { DAYS } from './lens.ts'

const SHOWN = 12
const DAY = 86_400

interface Change {
  readonly point: NodePoint
  readonly event: 'ascends' | 'rots' | 'fades'
  /** Unix seconds. */
  readonly at: number
}

/** Within a year, the soonest first. */
export function changesOf({ points, now }: Pick<Cloud, 'points' | 'now'>): readonly Change[] {
  const last = now + DAYS * DAY
  const changes = points.flatMap(point => {
    const { ascends_at: ascends, rots_at: rots, fades_at: fades } = point
    return Object.entries({ ascends, rots, fades }).flatMap(([event, at]): readonly Change[] =>
      at === null || at > last ? [] : [{ point, event: event as Change['event'], at }],
    )
  })
  return changes.sort((a, b) => a.at - b.at)
}

export interface ChangesProps {
  readonly changes: readonly Change[]
  /** Unix seconds: of the picture's clock, and of the moment shown. */
  readonly now: number
  readonly at: number
}

/** What happens to which node on which day, up to the moment shown; now, what comes next. */
export function Changes({ changes, now, at }: ChangesProps) {
  const isNow = at <= now
  const past = isNow ? changes : changes.filter(change => change.at <= at)
  // While it goes on in time, the latest come first: those that the picture has just shown.
  const shown = isNow ? past.slice(0, SHOWN) : past.slice(-SHOWN).reverse()
  const total = (event: Change['event']) => count(changes.filter(change => change.event === event).length)
  return (
    <section class="card" aria-labelledby="colour-changes-title">
      <h2 id="colour-changes-title">
        {isNow ? 'What comes next' : `What will have happened by ${day(new Date(at * 1000).toISOString())}`}
      </h2>
      {shown.length === 0 ? (
        <p class="quiet">{isNow ? 'Nothing within a year.' : 'Nothing yet.'}</p>
      ) : (
        <ul class="colour-changes">
          {shown.map(({ point, event, at: when }) => (
            <li key={`${point.entry_id} ${event}`}>
              <span class="quiet">{day(new Date(when * 1000).toISOString())}</span>{' '}
              <EntryLink id={point.entry_id}>{point.label || point.entry_id}</EntryLink> {event}
            </li>
          ))}
        </ul>
      )}
      <p class="quiet small">
        Within a year {total('fades')} fade, {total('rots')} rot, {total('ascends')} ascend.
      </p>
    </section>
  )
}
