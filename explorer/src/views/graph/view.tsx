import { useEffect, useMemo, useState } from 'preact/hooks'
import { ApiError } from '../../api.ts'
import { count, counted } from '../../parts/format.ts'
import { Busy, Empty, Failure, QuestionForm } from '../../parts/parts.tsx'
import { type Answer, useStateOf } from '../../parts/use-answer.ts'
import { addressOf, goTo, route, type ViewProps } from '../../shell/router.ts'
import { requester } from '../../shell/session.ts'
import { Canvas } from './canvas.tsx'
import {
  add,
  callersOf,
  close,
  colourOf,
  type Definition,
  type Drawing,
  definitionOf,
  drawingOf,
  type Dependants as Found,
  findConcepts,
  hasCode,
  linkColourOf,
  MAX_DRAWN,
  NOTHING,
  type Node,
  neighboursOf,
  open,
  type Picture,
  pictureOf,
  relationName,
  showMore,
  shownPlace,
} from './drawing.ts'
import './graph.css'

// As `useAnswer`, of a question that is more than one operation, or whose answer must be opened first.

/** Asked again where `key` changes, or the requester. `key` null: there is nothing to ask. */
function useAsked<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const owner = JSON.stringify([key, requester.value])
  const [answer, setAnswer] = useStateOf<Answer<T>>(owner, { value: null, error: null, isLoading: key !== null })
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    ask(controller.signal).then(
      value => {
        if (!controller.signal.aborted) setAnswer(() => ({ value, error: null, isLoading: false }))
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setAnswer(() => ({ value: null, error, isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [owner])
  return answer
}

interface DependantsProps {
  readonly title: string
  /** What to say where there are none. */
  readonly none: string
  readonly ask: (signal: AbortSignal) => Promise<Found>
  readonly onSelect: (id: number) => void
}

/** Asked for when it is opened: it may be much. */
export function Dependants({ title, none, ask, onSelect }: DependantsProps) {
  const [isOpen, setOpen] = useState(false)
  const { value, error, isLoading } = useAsked(isOpen ? title : null, ask)
  return (
    <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isLoading && <Busy what="Following links" />}
      {error !== null && <Failure error={error} />}
      {value?.total === 0 && <p class="quiet">{none}</p>}
      {value !== null && value.total > 0 && (
        <>
          <ul class="graph-dependants">
            {value.dependants.map(dependant => (
              <li key={dependant.id}>
                <button type="button" class="graph-name" onClick={() => onSelect(dependant.id)}>
                  {dependant.name}
                </button>
                <span class="quiet small">
                  {dependant.type}, {counted(dependant.hops, 'step')} away {shownPlace(dependant)}
                </span>
              </li>
            ))}
          </ul>
          {value.total > value.dependants.length && (
            <p class="quiet small">{count(value.total - value.dependants.length)} more are left out.</p>
          )}
        </>
      )}
    </details>
  )
}

interface DetailProps {
  readonly id: number
  readonly isOpen: boolean
  readonly onToggle: (id: number) => void
  readonly onSelect: (id: number) => void
}

/** What is chosen: where it is, its text, and who calls it. */
function Detail({ id, isOpen, onToggle, onSelect }: DetailProps) {
  const { value, error, isLoading } = useAsked(`definition ${id}`, signal => definitionOf(id, signal))
  if (error !== null) return <Failure error={error} />
  if (isLoading) return <Busy what="Reading the concept" />
  if (value === null) return null
  const { name, type, signature, doc } = value
  return (
    <section class="card stack graph-detail" aria-labelledby="graph-chosen">
      <div>
        <h2 id="graph-chosen">{name}</h2>
        <p class="small">
          <i class="graph-dot" aria-hidden="true" style={{ background: colourOf(type) }} /> {type}
          <span class="quiet"> {shownPlace(value)}</span>
        </p>
        <button type="button" onClick={() => onToggle(id)}>
          {isOpen ? 'Close its neighbours' : 'Open its neighbours'}
        </button>
      </div>
      {doc !== null && doc !== '' && <p class="text">{doc}</p>}
      {value.text === null ? signature && <pre class="graph-text">{signature}</pre> : <Snippet key={id} of={value} />}
      <Dependants
        key={`callers ${id}`}
        title="Who calls it"
        none="Nobody that is known."
        ask={signal => callersOf(id, signal)}
        onSelect={onSelect}
      />
    </section>
  )
}

/** Of longer texts, the rest is shown on request. */
const LINES = 24

function Snippet({ of: { text, start_line } }: { readonly of: Definition }) {
  const [isWhole, setWhole] = useState(false)
  const lines = (text ?? '').replace(/\n$/, '').split('\n')
  const shown = isWhole ? lines : lines.slice(0, LINES)
  return (
    <div>
      <pre class="graph-text">
        {shown.map((line, at) => (
          <span key={at} class="graph-line">
            <span class="graph-number" aria-hidden="true">
              {(start_line ?? 1) + at}
            </span>
            <code>{line === '' ? ' ' : line}</code>
          </span>
        ))}
      </pre>
      {lines.length > shown.length && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show {counted(lines.length - shown.length, 'more line')}
        </button>
      )}
    </div>
  )
}

/** The kinds of concepts and of links that are drawn, with how many there are of each. */
export function Legend({ nodes, links }: Picture) {
  const kinds = counts(nodes.map(({ type }) => type))
  const relations = counts(links.map(({ relation }) => relation))
  return (
    <div class="graph-legend">
      <ul aria-label="Kinds of concepts">
        {kinds.map(([kind, many]) => (
          <li key={kind}>
            <i class="graph-dot" aria-hidden="true" style={{ background: colourOf(kind) }} />
            {kind} {count(many)}
          </li>
        ))}
      </ul>
      <ul aria-label="Kinds of links">
        {relations.map(([relation, many]) => (
          <li key={relation}>
            <i class="graph-dash" aria-hidden="true" style={{ background: linkColourOf(relation) }} />
            {relationName(relation)} {count(many)}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Most first. */
function counts(names: readonly string[]): readonly (readonly [name: string, many: number])[] {
  return [...Map.groupBy(names, name => name)]
    .map(([name, all]) => [name, all.length] as const)
    .sort((a, b) => b[1] - a[1])
}

interface ListProps {
  readonly drawing: Drawing
  readonly picture: Picture
  readonly selected: number | null
  readonly onSelect: (id: number) => void
  /** Opens what is closed, closes what is open. */
  readonly onToggle: (id: number) => void
  readonly onMore: (id: number) => void
}

/** The picture as a list: what was found, and below what is open its neighbours, each opened in one place. */
export function List({ drawing, picture, selected, onSelect, onToggle, onMore }: ListProps) {
  const byId = new Map(picture.nodes.map(node => [node.id, node]))
  const places = placesOf(drawing, byId)
  const row = (node: Node, under: number | null) => {
    const { id, name, type } = node
    const held = drawing.opened.get(id)
    const isOpenHere = held !== undefined && places.get(id) === under
    const missing = isOpenHere ? held.neighbours.filter(other => !byId.has(other.id)).length : 0
    return (
      <li key={id}>
        <span class="graph-row">
          <button
            type="button"
            class="graph-toggle"
            aria-expanded={held !== undefined}
            aria-label={`Neighbours of ${name}`}
            onClick={() => onToggle(id)}
          >
            <span aria-hidden="true">{held === undefined ? '+' : '−'}</span>
          </button>
          <button type="button" class="graph-name" aria-pressed={id === selected} onClick={() => onSelect(id)}>
            <i class="graph-dot" aria-hidden="true" style={{ background: colourOf(type) }} />
            {name}
          </button>
          <span class="quiet small">
            {type}
            {under !== null && ` · ${relationsBetween(picture, under, id)}`}
            {under === null && !node.isMatch && ' · neighbour'}
          </span>
        </span>
        {isOpenHere && (
          <ul>
            {held.neighbours.flatMap(other => byId.get(other.id) ?? []).map(other => row(other, id))}
            {held.neighbours.length === 0 && <li class="quiet small">Nothing links here, and it links to nothing.</li>}
            {missing > 0 && (
              <li>
                <button type="button" class="small" onClick={() => onMore(id)}>
                  Show more of {missing} that are left out
                </button>
              </li>
            )}
          </ul>
        )}
      </li>
    )
  }
  return (
    <ul class="graph-list" aria-label="Concepts">
      {drawing.found.flatMap(({ id }) => byId.get(id) ?? []).map(node => row(node, null))}
    </ul>
  )
}

/** Under which concept (null: under none) the neighbours of an open one are listed: where it is met first. */
function placesOf({ found, opened }: Drawing, byId: ReadonlyMap<number, Node>): ReadonlyMap<number, number | null> {
  const places = new Map<number, number | null>(found.map(({ id }) => [id, null]))
  for (const id of places.keys()) {
    for (const other of opened.get(id)?.neighbours ?? []) {
      if (byId.has(other.id) && !places.has(other.id)) places.set(other.id, id)
    }
  }
  return places
}

/** In words: what the upper one does to the lower one, or is done to by it. */
function relationsBetween({ links }: Picture, upper: number, lower: number): string {
  const words = links.flatMap(({ source, target, relation }) => {
    if (source === upper && target === lower) return [`→ ${relationName(relation)}`]
    return source === lower && target === upper ? [`← ${relationName(relation)}`] : []
  })
  return [...new Set(words)].join(', ')
}

export function View(_: ViewProps) {
  const { settings } = route.value
  const query = settings.get('q') ?? ''
  const selected = idOf(settings.get('concept'))
  const code = useAsked('code', hasCode)
  const found = useAsked(query === '' ? null : query, signal => findConcepts(query, signal))
  const [drawing, setDrawing] = useStateOf<Drawing>(requester.value, NOTHING)
  const [failure, setFailure] = useState<unknown>(null)

  useEffect(() => {
    setFailure(null)
    setDrawing(() => (found.value === null ? NOTHING : drawingOf(found.value)))
  }, [found.value, query, requester.value])

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
  }, [isAway, selected, requester.value])

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
            {picture.nodes.length >= MAX_DRAWN && ` (at most ${MAX_DRAWN} are drawn: close some to make room)`}
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
