import { useState } from 'preact/hooks'
import type { EntryName, EntryView } from '../../../../src/engine/engine.ts'
import type { Page } from '../../../../src/model/page.ts'
import { count, counted, moment } from '../../parts/format.ts'
import { Busy, Empty, EntryLink, Failure, titleOf } from '../../parts/parts.tsx'
import { ScoreBar } from '../../parts/score.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { addressOf } from '../../shell/router.ts'

/** What is shown at once: a browser takes seconds for the longest entries. */
const SHOWN = 100_000

/** The text of an entry, as text: whatever it holds, nothing of it is run or followed. */
export function Content({ text, isCode }: { readonly text: string; readonly isCode: boolean }) {
  const [shown, setShown] = useState(SHOWN)
  return (
    <section class="content card" aria-label="Content">
      <pre class={isCode ? 'text' : 'text content-prose'}>{text.slice(0, shown)}</pre>
      {text.length > shown && (
        <button type="button" onClick={() => setShown(shown + SHOWN)}>
          Show more of its {count(text.length)} characters
        </button>
      )}
    </section>
  )
}

const SIMILAR = 10

/** One entry whole: its text as text, what is known about it, and what is like it. */
export function EntryPage({ id }: { readonly id: string }) {
  const { value: entry, error } = useAnswer<EntryView>('get', { id })
  if (error !== null) return <Failure error={error} />
  if (entry === null) return <Busy what="Reading the entry" />
  return (
    <article class="entry stack">
      <header>
        <p class="small">
          <a href={addressOf('search')} onClick={backToAnswer}>
            ← Back to the search
          </a>
        </p>
        <h1>{titleOf(entry)}</h1>
        <p class="row small">
          <a href={addressOf('search', [], { collection: entry.collection })}>{entry.collection}</a>
          <span class="quiet">{entry.kind}</span>
          {entry.tags.map(tag => (
            <a key={tag} class="tag" href={addressOf('search', [], { tag })}>
              {tag}
            </a>
          ))}
        </p>
      </header>
      <div class="split">
        <Content text={entry.content} isCode={entry.kind === 'code'} />
        <aside class="card">
          <Tabs
            label="About this entry"
            tabs={[
              { name: 'facts', title: 'Facts', content: <Facts entry={entry} /> },
              { name: 'links', title: 'Links', content: <Links entry={entry} /> },
              { name: 'similar', title: 'Similar', content: <Similar id={id} /> },
            ]}
          />
        </aside>
      </div>
    </article>
  )
}

/** The answer one came from is the step before, with all that was open in its address. */
function backToAnswer(event: Event): void {
  if (history.length <= 1) return
  event.preventDefault()
  history.back()
}

function Facts({ entry }: { readonly entry: EntryView }) {
  const { audience, access, metadata } = entry
  const facts: readonly (readonly [string, string | null])[] = [
    ['Id', entry.id],
    ['Held by', entry.holder],
    ['Seen by', [audience.kind, ...(audience.federations ?? [])].join(', ')],
    ['Origin', entry.origin],
    ['Created', moment(entry.created_at)],
    ['Changed', moment(entry.updated_at)],
    ['Known here since', moment(entry.known_at)],
    ['Holds from', entry.valid_from && moment(entry.valid_from)],
    ['Holds until', entry.valid_until && moment(entry.valid_until)],
    ['Last used by you', access && `${moment(access.last_accessed)}, ${counted(access.count, 'time')} in all`],
  ]
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      {Object.keys(metadata).length > 0 && (
        <>
          <h2>Metadata</h2>
          <pre class="text">{JSON.stringify(metadata, null, 2)}</pre>
        </>
      )}
    </>
  )
}

function Links({ entry: { links, backlinks } }: { readonly entry: EntryView }) {
  if (links.length + backlinks.length === 0) return <Empty title="No links from here or to here" />
  return (
    <>
      <LinkList title="Linked from here" entries={links} />
      <LinkList title="Linking here" entries={backlinks} />
    </>
  )
}

function LinkList({ title, entries }: { readonly title: string; readonly entries: readonly EntryName[] }) {
  if (entries.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="similar">
        {entries.map(entry => (
          <li key={entry.id}>
            <EntryLink id={entry.id}>{titleOf(entry)}</EntryLink>
          </li>
        ))}
      </ul>
    </>
  )
}

function Similar({ id }: { readonly id: string }) {
  const { value: page, error } = useAnswer<Page>('similar', { id, limit: SIMILAR })
  if (error !== null) return <Failure error={error} />
  if (page === null) return <Busy what="Looking for similar entries" />
  if (page.items.length === 0) return <Empty title="Nothing here is like it" />
  return (
    <ol class="similar">
      {page.items.map(item => (
        <li key={`${item.holder} ${item.id}`}>
          <EntryLink id={item.id}>{titleOf(item)}</EntryLink>
          <ScoreBar score={item.score} components={item.components} />
        </li>
      ))}
    </ol>
  )
}
