import { addressOf, goTo, route, type ViewProps } from '../../shell/router.ts'
import { EntryPage } from './entry-page.tsx'
import './search.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Page, StageTrace } from '../../../../src/model/page.ts'
import type { Suggestions } from '../../../../src/model/query-input.ts'
import { count, counted } from '../../parts/format.ts'
import { Busy, Empty, Failure, Verdict } from '../../parts/parts.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { viewer } from '../../shell/session.ts'
import { Filters } from './filters.tsx'
import { askedBy, type Question, questionOf, settingsOf } from './question.ts'
import { Comparison, Results, usePages, usePicked } from './results.tsx'
import { recent, remember, SearchBox } from './search-box.tsx'

/** The stages the question went through: how long each took, and what came out of it. */
export function Trace({ stages }: { readonly stages: readonly StageTrace[] }) {
  const total = stages.reduce((sum, { ms }) => sum + ms, 0)
  const hasDetails = stages.some(({ detail }) => detail !== undefined)
  return (
    <details class="trace">
      <summary>
        {stages.length} stages, {total.toFixed(1)} ms
      </summary>
      <section class="table-scroll" aria-label="Stages">
        <table>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col">Time</th>
              <th scope="col" class="number">
                Came out
              </th>
              {hasDetails && <th scope="col">Details</th>}
            </tr>
          </thead>
          <tbody>
            {stages.map(({ stage, ms, out, detail }) => (
              <tr key={stage}>
                <th scope="row">{stage}</th>
                <td>
                  <span class="trace-time">
                    <i aria-hidden="true" style={{ width: `${total > 0 ? (ms / total) * 100 : 0}%` }} />
                  </span>{' '}
                  {ms.toFixed(2)} ms
                </td>
                <td class="number">{count(out)}</td>
                {hasDetails && <td>{detail && <code class="trace-detail">{JSON.stringify(detail)}</code>}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

interface AnswerHeadProps {
  readonly page: Page
  readonly shown: number
  readonly question: Question
  ask(question: Question): void
}

/** What the answer is worth, before what it says. */
function AnswerHead({ page, shown, question, ask }: AnswerHeadProps) {
  const isNothing = page.verdict === 'nothing_relevant'
  const isList = page.mode === 'list'
  return (
    <section class={isNothing ? 'answer-head card nothing' : 'answer-head'} aria-label="About this answer">
      <Verdict {...page} />
      <p class="quiet small" role="status">
        {shown === 0
          ? 'No results'
          : `${counted(shown, 'result')} shown${page.cursor === null ? '' : ', there are more'}`}
      </p>
      {isNothing && (
        <div class="row">
          <p>
            {isList
              ? 'No entry that you may see fulfils all of them. Take one away to see more.'
              : 'That means: nothing on this subject is known here. It does not mean that something is not so.'}
          </p>
          {!question.any && !isList && (
            <button type="button" onClick={() => ask({ ...question, any: true })}>
              Show what comes nearest
            </button>
          )}
        </div>
      )}
      {page.trace && <Trace stages={page.trace} />}
    </section>
  )
}

interface WelcomeProps {
  readonly question: Question
  ask(question: Question): void
}

/** Before the first question: what there is to ask about. */
export function Welcome({ question, ask }: WelcomeProps) {
  const { value, error } = useAnswer<Suggestions>('suggest', { fields: ['collection', 'tag'], limit: 16 })
  if (error !== null) return <Failure error={error} />
  if (value === null) return null
  if (value.suggestions.length === 0) {
    return (
      <Empty title="There is nothing here yet">
        <p>
          Add what you know: <code>querent add notes</code>
        </p>
      </Empty>
    )
  }
  const of = (field: string) => value.suggestions.filter(one => one.field === field)
  const asked = recent().slice(0, 6)
  return (
    <div class="welcome stack">
      <Hints />
      <Group title="Collections">
        {of('collection').map(one => (
          <button
            key={one.value}
            type="button"
            class="chip"
            onClick={() => ask({ ...question, collections: [one.value] })}
          >
            {one.value} <span class="quiet">{counted(one.count, 'entry', 'entries')}</span>
          </button>
        ))}
      </Group>
      {of('tag').length > 0 && (
        <Group title="Tags">
          {of('tag').map(one => (
            <button key={one.value} type="button" class="chip" onClick={() => ask({ ...question, tags: [one.value] })}>
              {one.value} <span class="quiet">{one.count}</span>
            </button>
          ))}
        </Group>
      )}
      {asked.length > 0 && (
        <Group title="Asked here before">
          {asked.map(text => (
            <button key={text} type="button" class="chip" onClick={() => ask({ ...question, text })}>
              {text}
            </button>
          ))}
        </Group>
      )}
    </div>
  )
}

const HINTS: readonly (readonly [sign: string, what: string])[] = [
  ['text +must -not', 'words that must occur or must not; write them after the text'],
  ['"in these words"', 'an exact phrase'],
  ['tag:… kind:…', 'fields of the entry'],
  ['updated:7d', 'changed in the last seven days; also a day, month or year'],
]

function Hints() {
  return (
    <section class="card">
      <h2>Ask in plain words</h2>
      <p>Nothing else is needed. A few signs say more exactly what you want.</p>
      <dl class="facts search-hints">
        {HINTS.map(([sign, what]) => (
          <div key={sign}>
            <dt>
              <kbd>{sign}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Group({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      <div class="row">{children}</div>
    </section>
  )
}

/** The address holds the question, so that a link to it is a link to its answer. */
function SearchPage() {
  const question = questionOf(route.value.settings)
  const asked = askedBy(question)
  const key = JSON.stringify([asked, viewer.value])
  const pages = usePages(asked)
  const { picked, pick, clear } = usePicked(key)
  const [areFiltersOpen, openFilters] = useState(false)
  useEffect(() => remember(question.text), [question.text])
  const ask = (next: Question) => goTo(addressOf('search', [], settingsOf(next)))
  const { first, items, cursor, error, isLoading, more } = pages
  return (
    <div class="search stack">
      <h1 class="visually-hidden">Search</h1>
      <SearchBox
        key={question.text}
        question={question}
        ask={ask}
        areFiltersOpen={areFiltersOpen}
        toggleFilters={() => openFilters(!areFiltersOpen)}
      />
      <Filters question={question} ask={ask} isOpen={areFiltersOpen} />
      {asked === null && <Welcome question={question} ask={ask} />}
      {error !== null && <Failure error={error} />}
      {first !== null && <AnswerHead page={first} shown={items.length} question={question} ask={ask} />}
      {asked !== null && picked.length > 0 && <Comparison query={asked} picked={picked} close={clear} />}
      {first !== null && asked !== null && (
        <Results key={key} items={items} picked={picked} pick={pick} clear={clear} />
      )}
      {isLoading && <Busy what="Asking" />}
      {cursor !== null && !isLoading && (
        <button type="button" class="more" onClick={more}>
          More results
        </button>
      )}
    </div>
  )
}

/** `#/search?q=…`: a question and its answer. `#/search/entry/<id>`: one entry. */
export function View({ rest }: ViewProps) {
  const [what, id] = rest
  return what === 'entry' && id !== undefined ? <EntryPage key={id} id={id} /> : <SearchPage />
}
