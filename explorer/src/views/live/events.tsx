import { EntryLink } from '../../parts/entry-link.tsx'
import { moment, timeOfDay } from '../../parts/format.ts'
import type { Happened } from './watching.ts'

const WORDS: Readonly<Record<Happened['type'], string>> = {
  added: 'came in',
  updated: 'changed',
  removed: 'left',
  reranked: 'moved',
}

/** What came in, changed and left, the newest first. Read out as it comes. */
export function Events({ events }: { readonly events: readonly Happened[] }) {
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      {events.length === 0 && <p class="quiet">Nothing since this page listens.</p>}
      <ol class="live-events" aria-live="polite" aria-relevant="additions">
        {events.map(event => (
          <li key={`${event.subscription_id} ${event.seq}`} class={event.type}>
            <strong>{WORDS[event.type]}</strong>{' '}
            {event.type === 'removed' ? event.title : <EntryLink id={event.id}>{event.title}</EntryLink>}
            <p class="quiet small">
              <time dateTime={event.timestamp} title={moment(event.timestamp)}>
                {timeOfDay(event.timestamp)}
              </time>{' '}
              {event.text}
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}
