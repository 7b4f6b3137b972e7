import type { ComponentChildren } from 'preact'
import type { Suggestions } from '../../../../src/model/suggest.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { counted } from '../../parts/format.ts'
import { useAnswer } from '../../parts/use-answer.ts'
import type { Question } from './question.ts'
import { recent } from './recent.ts'

export interface WelcomeProps {
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
  ['+must -not', 'words that must occur, or must not'],
  ['"in these words"', 'a phrase as it stands'],
  ['tag:… kind:…', 'fields: of what is stored beside the text'],
  ['updated:7d', 'times: since so long ago, or a day, month, year'],
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
