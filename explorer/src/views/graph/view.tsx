import { useEffect, useMemo, useState } from 'preact/hooks'
import { ApiError } from '../../api/call.ts'
import { Busy } from '../../parts/busy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { counted } from '../../parts/format.ts'
import { QuestionForm } from '../../parts/question-form.tsx'
import { useStateOf } from '../../parts/use-state-of.ts'
import { addressOf, goTo, route } from '../../shell/router.ts'
import { asker } from '../../shell/session.ts'
import type { ViewProps } from '../../view-props.ts'
import { Canvas } from './canvas.tsx'
import { Detail } from './detail.tsx'
import { add, close, type Drawing, drawingOf, MOST_DRAWN, NOTHING, open, pictureOf, showMore } from './drawing.ts'
import { Legend } from './legend.tsx'
import { findConcepts, hasCode, neighboursOf } from './lens.ts'
import { List } from './list.tsx'
import { useAsked } from './use-asked.ts'
import './graph.css'

export function View(_: ViewProps) {
  const { settings } = route.value
  const query = settings.get('q') ?? ''
  const selected = idOf(settings.get('concept'))
  const code = useAsked('code', hasCode)
  const found = useAsked(query === '' ? null : query, signal => findConcepts(query, signal))
  const [drawing, setDrawing] = useStateOf<Drawing>(asker.value, NOTHING)
  const [failure, setFailure] = useState<unknown>(null)

  useEffect(() => {
    setFailure(null)
    setDrawing(() => (found.value === null ? NOTHING : drawingOf(found.value)))
  }, [found.value, query, asker.value])

  const picture = useMemo(() => pictureOf(drawing), [drawing])
  const isSettled = !found.isLoading && found.error === null
  const isAway = isSettled && selected !== null && !picture.nodes.some(({ id }) => id === selected)

  const bring = (id: number, isNew: boolean): AbortController => {
    const controller = new AbortController()
    neighboursOf(id, controller.signal).then(
      answer => {
        if (controller.signal.aborted) return
        setFailure(null)
        setDrawing(now => open(isNew ? add(now, answer.concept) : now, answer))
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setFailure(error)
      },
    )
    return controller
  }
  useEffect(() => {
    if (!isAway || selected === null) return
    const controller = bring(selected, true)
    return () => controller.abort()
  }, [isAway, selected, asker.value])

  const select = (id: number): void => goTo(addressOf('graph', [], { q: query, concept: String(id) }))
  const toggle = (id: number): void => {
    if (drawing.opened.has(id)) setDrawing(now => close(now, id))
    else bring(id, false)
  }
  const point = (id: number): void => {
    if (id === selected || !drawing.opened.has(id)) toggle(id)
    select(id)
  }
  const more = (id: number): void => setDrawing(now => showMore(now, id))

  if (isUnread(code.value, code.error)) return <NoCode />
  const isDrawn = picture.nodes.length > 0
  return (
    <div class="stack graph">
      <h1>Concepts</h1>
      <QuestionForm key={query} view="graph" name="Concept" action="Find" question={query} />
      {found.isLoading && <Busy what="Looking for concepts" />}
      {found.error !== null && <Failure error={found.error} />}
      {failure !== null && <Failure error={failure} />}
      {found.value?.concepts.length === 0 && !isDrawn && (
        <Empty title="Nothing is called that, or means it">
          <p>Try a part of a name, or other words for what it does.</p>
        </Empty>
      )}
      {query === '' && !isDrawn && selected === null && <p class="quiet">{HINT}</p>}
      {isDrawn && (
        <>
          <p class="quiet small" role="status">
            {counted(picture.nodes.length, 'concept')}, {counted(picture.links.length, 'link')}
            {picture.leftOut > 0 && `; ${counted(picture.leftOut, 'neighbour')} left out`}
            {picture.nodes.length >= MOST_DRAWN && ` (at most ${MOST_DRAWN} are drawn: close some to make room)`}
          </p>
          <div class="split">
            <div class="stack graph-picture">
              <Legend {...picture} />
              <Canvas picture={picture} selected={selected} onSelect={point} />
              <p class="quiet small">
                A click opens the neighbours of a concept, another closes them. Opened in the list below, it names its
                links.
              </p>
            </div>
            {selected === null ? (
              <p class="quiet">Choose a concept to read it.</p>
            ) : (
              <Detail id={selected} isOpen={drawing.opened.has(selected)} onToggle={toggle} onSelect={select} />
            )}
          </div>
          <section class="card" aria-labelledby="graph-list-title">
            <h2 id="graph-list-title">The same as a list</h2>
            <List {...{ drawing, picture, selected }} onSelect={select} onToggle={toggle} onMore={more} />
          </section>
        </>
      )}
    </div>
  )
}

const HINT =
  'Ask for a name, such as a class or a file, or for what the code does. What is found is drawn with what it hangs together with.'

function NoCode() {
  return (
    <div class="stack">
      <h1>Concepts</h1>
      <Empty title="No code has been read yet">
        <p>
          In the folder of the code: <code>querent add --code .</code>
        </p>
      </Empty>
    </div>
  )
}

function isUnread(hasAny: boolean | null, error: unknown): boolean {
  return hasAny === false || (error instanceof ApiError && error.code === 'not_initialized')
}

function idOf(given: string | null): number | null {
  const id = Number(given)
  return Number.isSafeInteger(id) && id > 0 ? id : null
}
