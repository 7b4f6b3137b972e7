import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Binding, DetailedAnswer } from '../../../../src/lenses/chroma/model.ts'
import type { NodePoint } from '../../../../src/lenses/chroma/nodes/points.ts'
import { count, counted, day, day as dayName, score, share } from '../../parts/format.ts'
import { Busy, Empty, EntryLink, Failure, QuestionForm } from '../../parts/parts.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { route, type ViewProps } from '../../shell/router.ts'
import { Canvas } from './canvas.tsx'
import { type Cloud, DAYS, inputOf, LIVES, type Life, type Outlooks, outlookAt, outlooksAt, useCloud } from './cloud.ts'
import './colour.css'
import { hexOf } from '../../../../src/lenses/chroma/lab-color.ts'

const SHOWN = 12

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

/** A colour as it is drawn. Said in numbers elsewhere, where it matters. */
function Swatch({ color }: { readonly color: readonly [number, number, number] }) {
  return <i class="colour-swatch" aria-hidden="true" style={{ background: hexOf(color) }} />
}

const NUMBERS = ['Score', 'Distance', 'Relevance', 'Recency', 'Strength']

/** The hits of the question, best first; the numbers stand at the rings of the picture too. */
export function Hits({ answer: { results, query, warnings } }: { readonly answer: DetailedAnswer }) {
  return (
    <section class="card colour-hits" aria-labelledby="colour-hits-title">
      <h2 id="colour-hits-title">Hits</h2>
      <p class="quiet small">
        Asked for {query.hashtags.join(' ')}
        {query.completed_hashtags.length > 0 && `, of which ${query.completed_hashtags.join(' ')} were added`}
      </p>
      {warnings.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
      {results.length === 0 ? (
        <Empty title="Nothing lies near enough" />
      ) : (
        <div class="table-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">#</th>
                <th scope="col">Node</th>
                {NUMBERS.map(name => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {results.map((row, at) => (
                <tr key={row.entry_id}>
                  <td class="number">{at + 1}</td>
                  <th scope="row">
                    <Swatch color={[row.color_L, row.color_a, row.color_b]} />
                    <EntryLink id={row.entry_id}>{row.label || row.entry_id}</EntryLink>
                  </th>
                  <td class="number">{score(row.score)}</td>
                  <td class="number">{row.distance.toFixed(1)}</td>
                  <td class="number">{score(row.relevance)}</td>
                  <td class="number">{score(row.recency)}</td>
                  <td class="number">{score(row.strength_norm)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

const MEANING: Readonly<Record<Life, string>> = {
  active: 'active: the larger, the stronger its memory',
  faded: 'faded: paler, less than half of its health is left',
  rotten: 'rotten: hollow, no longer found',
  ascended: 'ascended: gold rim, neither decays nor rots',
}

export function Legend({ counts, when }: { readonly counts: Outlooks['counts']; readonly when: string }) {
  return (
    <ul class="colour-legend" aria-label={`Nodes ${when}`}>
      {LIVES.map(life => (
        <li key={life}>
          <i class={`colour-mark colour-mark-${life}`} aria-hidden="true" />
          <strong>{count(counts[life])}</strong> {MEANING[life]}
        </li>
      ))}
      <li>
        <i class="colour-mark colour-mark-anchor" aria-hidden="true" />
        the place of a hashtag
      </li>
      <li>
        <i class="colour-mark colour-mark-question" aria-hidden="true" />
        the question, with a line to each hit
      </li>
    </ul>
  )
}

const ROWS = 20

interface NodesProps {
  readonly cloud: Cloud
  readonly outlooks: Outlooks
  /** Unix seconds. */
  readonly at: number
  readonly when: string
}

/** The nodes of the picture as a table, as they are at the moment that it shows. */
export function Nodes({ cloud: { points }, outlooks, at, when }: NodesProps) {
  const [life, setLife] = useState<Life | ''>('')
  const [page, setPage] = useState(0)
  const wanted = life === '' ? -1 : LIVES.indexOf(life)
  const rows = wanted < 0 ? points : points.filter((_, index) => outlooks.lives[index] === wanted)
  const pages = Math.max(1, Math.ceil(rows.length / ROWS))
  const current = Math.min(page, pages - 1)
  return (
    <section class="card" aria-labelledby="colour-nodes-title">
      <h2 id="colour-nodes-title">Nodes {when}</h2>
      <div class="row">
        <label class="field">
          <span>State</span>
          <select
            value={life}
            onChange={event => {
              setLife(event.currentTarget.value as Life | '')
              setPage(0)
            }}
          >
            <option value="">any</option>
            {LIVES.map(name => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" disabled={current === 0} onClick={() => setPage(current - 1)}>
          Back
        </button>
        <button type="button" disabled={current === pages - 1} onClick={() => setPage(current + 1)}>
          On
        </button>
        <span class="quiet small" role="status">
          {count(rows.length)} nodes, page {count(current + 1)} of {count(pages)}
        </span>
      </div>
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">L, a, b</th>
              <th scope="col">State</th>
              <th scope="col">Strength</th>
              <th scope="col">Health</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(current * ROWS, (current + 1) * ROWS).map(point => {
              const outlook = outlookAt(point, at)
              return (
                <tr key={point.entry_id}>
                  <th scope="row">
                    <Swatch color={point.color} />
                    <EntryLink id={point.entry_id}>{point.label || point.entry_id}</EntryLink>
                  </th>
                  <td>{point.color.map(value => value.toFixed(0)).join(', ')}</td>
                  <td>{outlook.life}</td>
                  <td>{share(outlook.strength)}</td>
                  <td>{share(outlook.health)}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** A day of the slider while it plays, and how far it goes at once for those who want no motion. */
const TICK_MS = 120
const LEAP = 30

interface TimeProps {
  readonly day: number
  /** The moment in words. */
  readonly when: string
  readonly onDay: (change: (day: number) => number) => void
}

/** What the picture shows: now, or as it will be after so many days in which nobody uses anything. */
export function Time({ day, when, onDay }: TimeProps) {
  const [isPlaying, setPlaying] = useState(false)
  const isAtEnd = day >= DAYS
  const mayMove = !matchMedia('(prefers-reduced-motion: reduce)').matches
  // With the layout, which no timer can come before: after "Pause" no day is added.
  useLayoutEffect(() => {
    if (!isPlaying || isAtEnd) {
      setPlaying(false)
      return
    }
    const timer = setInterval(() => onDay(now => Math.min(DAYS, now + 1)), TICK_MS)
    return () => clearInterval(timer)
  }, [isPlaying, isAtEnd])
  return (
    <div class="colour-time">
      <label for="colour-day">If nobody uses anything from now on</label>
      <input
        id="colour-day"
        type="range"
        min={0}
        max={DAYS}
        value={day}
        aria-valuetext={when}
        onInput={event => {
          const { valueAsNumber } = event.currentTarget
          onDay(() => valueAsNumber)
        }}
      />
      <div class="row">
        {mayMove ? (
          <button
            type="button"
            onClick={() => {
              if (isAtEnd) onDay(() => 0)
              setPlaying(!isPlaying)
            }}
          >
            {isPlaying ? 'Pause' : 'Play'}
          </button>
        ) : (
          <button type="button" disabled={isAtEnd} onClick={() => onDay(now => Math.min(DAYS, now + LEAP))}>
            {LEAP} days on
          </button>
        )}
        <button type="button" disabled={day === 0} onClick={() => onDay(() => 0)}>
          Now
        </button>
        <output for="colour-day">{when}</output>
      </div>
      <p class="quiet small">
        How strong something was before its last use is not kept: the picture goes forward only.
      </p>
    </div>
  )
}

const DAY = 86_400

/** `#/colour?q=…`: the space of all nodes, with a question in it. */
export function View(_: ViewProps) {
  const question = route.value.settings.get('q') ?? ''
  const { cloud, error } = useCloud()
  return (
    <div class="stack colour">
      <h1>Colour space</h1>
      {error !== null && <Failure error={error} />}
      {cloud === null && error === null && <Busy what="Fetching the nodes" />}
      {cloud?.total === 0 && <Beginning />}
      {cloud !== null && cloud.total > 0 && <Space cloud={cloud} question={question} />}
    </div>
  )
}

function Space({ cloud, question }: { readonly cloud: Cloud; readonly question: string }) {
  const [day, setDay] = useState(0)
  const [named, setNamed] = useState(-1)
  const assigned = useAnswer<{ readonly hashtags: readonly Binding[] }>('chroma.hashtags', {})
  const answer = useAnswer<DetailedAnswer>('chroma.query', inputOf(question))
  const at = cloud.now + day * DAY
  const when = day === 0 ? 'now' : `in ${counted(day, 'day')}, ${dayName(new Date(at * 1000).toISOString())}`
  const outlooks = useMemo(() => outlooksAt(cloud.points, at), [cloud.points, at])
  const changes = useMemo(() => changesOf(cloud), [cloud])
  const point = cloud.points[named]
  return (
    <>
      <QuestionForm
        key={question}
        view="colour"
        name="Question"
        action="Show"
        question={question}
        placeholder="Words, or hashtags such as #python #async"
      />
      {answer.isLoading && <Busy what="Asking" />}
      {[answer, assigned].map(
        ({ error }, index) => error !== null && <Failure key={['ask', 'tags'][index]} error={error} />,
      )}
      <p class="quiet small" role="status">
        {cloud.points.length === cloud.total
          ? counted(cloud.total, 'node')
          : `${count(cloud.points.length)} of ${counted(cloud.total, 'node')}, the newest first${cloud.isWhole ? '' : '; more are coming'}`}
      </p>
      <div class="split">
        <div class="stack">
          <Canvas
            cloud={cloud}
            outlooks={outlooks}
            hashtags={assigned.value?.hashtags ?? NONE}
            answer={answer.value}
            onName={setNamed}
          />
          {point && (
            <p role="status">
              <EntryLink id={point.entry_id}>{point.label || point.entry_id}</EntryLink>
            </p>
          )}
          <Time day={day} when={when} onDay={setDay} />
          <Legend counts={outlooks.counts} when={when} />
        </div>
        <div class="stack">
          {answer.value && <Hits answer={answer.value} />}
          <Changes changes={changes} now={cloud.now} at={at} />
        </div>
      </div>
      <Nodes cloud={cloud} outlooks={outlooks} at={at} when={when} />
    </>
  )
}

const NONE: readonly [] = []

function Beginning() {
  return (
    <Empty title="No node has a colour yet">
      <p>Hashtags have places in the space, and what is stored under them lies where they pull it. To begin:</p>
      <p>
        <code>querent chroma assign --starter</code>
      </p>
      <p>
        <code>
          querent chroma store "A coroutine runs until it awaits." --label "The event loop" --tags "python async asyncio
          coroutines events concurrency functions stable"
        </code>
      </p>
    </Empty>
  )
}
