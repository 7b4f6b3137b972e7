import { useMemo, useState } from 'preact/hooks'
import type { Binding, DetailedAnswer } from '../../../../src/lenses/chroma/model.ts'
import { Busy } from '../../parts/busy.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EntryLink } from '../../parts/entry-link.tsx'
import { Failure } from '../../parts/failure.tsx'
import { count, counted, day as dayName } from '../../parts/format.ts'
import { QuestionForm } from '../../parts/question-form.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { route } from '../../shell/router.ts'
import type { ViewProps } from '../../view-props.ts'
import { Canvas } from './canvas.tsx'
import { Changes, changesOf } from './changes.tsx'
import type { Cloud } from './cloud.ts'
import { Hits } from './hits.tsx'
import { Legend } from './legend.tsx'
import { inputOf } from './lens.ts'
import { Nodes } from './nodes.tsx'
import { outlooksAt } from './outlook.ts'
import { Time } from './time.tsx'
import { useCloud } from './use-cloud.ts'
import './colour.css'

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
