import { useEffect } from 'preact/hooks'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { addressOf, goTo, route } from '../../shell/router.ts'
import { asker } from '../../shell/session.ts'
import type { ViewProps } from '../../view-props.ts'
import { Connection } from './connection.tsx'
import { Events } from './events.tsx'
import { Standing } from './standing.tsx'
import { watching } from './watching.ts'
import './live.css'

/** `#/live?q=…`: a question that stands, its answer as it is now, and what has changed in it. */
export function View(_: ViewProps) {
  const text = route.value.settings.get('q') ?? ''
  useEffect(() => {
    if (text === '') return
    const controller = new AbortController()
    void watching.follow(text, controller.signal)
    return () => controller.abort()
  }, [text, asker.value])
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
        <Empty title="No question stands yet">
          <p>Ask one: what comes into its answer, changes in it or leaves it is told here as it happens.</p>
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
