import { useEffect } from 'preact/hooks'
import { Empty, EntryLink, Failure, MarkedText, titleOf } from '../../parts/parts.tsx'
import { addressOf, goTo, route, type ViewProps } from '../../shell/router.ts'
import { requester } from '../../shell/session.ts'
import { type ConnectionState, type Happened, watching } from './watching.ts'
import './live.css'
import type { Item } from '../../../../src/model/page.ts'
import { counted, moment, timeOfDay } from '../../parts/format.ts'
import { ScoreBar } from '../../parts/score.tsx'

const STATE_WORDS: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting …',
  watching: 'Watching: changes are shown as they happen.',
  lost: 'The connection is lost. Trying again; nothing that happens meanwhile is missed.',
  refused: 'The question is not watched.',
}

export function Connection({ state }: { readonly state: ConnectionState }) {
  return (
    <p class={`live-state ${state}`} role="status">
      <i aria-hidden="true" />
      {STATE_WORDS[state]}
    </p>
  )
}

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

/** The answer as it is now. */
export function Standing({ items, isBegun }: { readonly items: readonly Item[]; readonly isBegun: boolean }) {
  const most = Math.max(...items.map(({ score }) => score), 0)
  return (
    <section aria-label="The answer now">
      <h2>The answer now: {counted(items.length, 'entry', 'entries')}</h2>
      {items.length === 0 && isBegun && <p class="quiet">Nothing is in it. New entries appear here.</p>}
      <ol class="live-items">
        {items.map(item => (
          <li key={`${item.holder} ${item.id}`} class="card">
            <h3>
              <EntryLink id={item.id}>{titleOf(item)}</EntryLink>
            </h3>
            <p class="text live-excerpt">
              <MarkedText excerpt={item.excerpt} />
            </p>
            <ScoreBar score={item.score} components={item.components} most={most > 0 ? most : 1} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** `#/live?q=…`: a live query, its answer as it is now, and what has changed in it. */
export function View(_: ViewProps) {
  const text = route.value.settings.get('q') ?? ''
  useEffect(() => {
    if (text === '') return
    const controller = new AbortController()
    void watching.follow(text, controller.signal)
    return () => controller.abort()
  }, [text, requester.value])
  const { state, error, items, events } = watching.seen.value
  return (
    <div class="live stack">
      <h1>Live</h1>
      <form
        class="live-ask row"
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget).get('q')
          goTo(addressOf('live', [], { q: String(given ?? '').trim() }))
        }}
      >
        <label class="visually-hidden" for="live-question">
          Question to watch
        </label>
        <input
          key={text}
          id="live-question"
          type="search"
          name="q"
          data-key="/"
          defaultValue={text}
          placeholder="A question to watch, in the same words as a search"
          autocomplete="off"
          spellcheck={false}
        />
        <button type="submit" class="primary">
          Watch
        </button>
        {text !== '' && (
          <button type="button" onClick={() => goTo(addressOf('live'))}>
            Stop
          </button>
        )}
      </form>
      {text === '' ? (
        <Empty title="No live query yet">
          <p>Enter one. Changes to its results appear here.</p>
        </Empty>
      ) : (
        <>
          <Connection state={state} />
          {error !== null && <Failure error={error} />}
          <div class="split">
            <Standing items={items} isBegun={state !== 'connecting'} />
            <Events events={events} />
          </div>
        </>
      )}
    </div>
  )
}
