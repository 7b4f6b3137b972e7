import type { ComponentChildren } from 'preact'
import type { Excerpt, Page } from '../../../src/model/page.ts'
import { ApiError } from '../api.ts'
import { addressOf, goTo } from '../shell/router.ts'
import { isTokenWanted } from '../shell/session.ts'
import { share } from './format.ts'

/** Something is on its way. Said aloud politely, and shown without motion to those who want none. */
export function Busy({ what }: { readonly what: string }) {
  return (
    <p class="busy" role="status">
      <span class="busy-mark" aria-hidden="true" />
      {what}
    </p>
  )
}

export interface EmptyProps {
  readonly title: string
  /** What to do about it, or why that is well. */
  readonly children?: ComponentChildren
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** An error as the server worded it: what was wrong, and what to do. */
export function Failure({ error }: { readonly error: unknown }) {
  // The dialog asks for what is missing.
  if (isTokenWanted.value) return null
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div class="failure" role="alert">
      <p>{message}</p>
      {error instanceof ApiError && <code>{error.code}</code>}
    </div>
  )
}

export function entryAddress(id: string): string {
  return addressOf('search', ['entry', id])
}

export interface EntryLinkProps {
  readonly id: string
  readonly children: ComponentChildren
}

/** To the page of one entry. */
export function EntryLink({ id, children }: EntryLinkProps) {
  return <a href={entryAddress(id)}>{children}</a>
}

/** What an entry is called where it has no title. */
export function titleOf({ title, id }: { readonly title: string; readonly id: string }): string {
  return title.trim() === '' ? id : title
}

/** Text with its hits marked; `…` marks an end inside a sentence. Always as text: whatever is stored, nothing of it is read as HTML. */
export function MarkedText({ excerpt: { text, highlights, cut_start, cut_end } }: { readonly excerpt: Excerpt }) {
  const parts = []
  let at = 0
  for (const [start, end] of highlights) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <>
      {cut_start && '… '}
      {parts}
      {text.slice(at)}
      {cut_end && ' …'}
    </>
  )
}

const WORDS = { answered: 'Answered', weak: 'Weak answer', nothing_relevant: 'Nothing relevant' } as const

/** Where words or conditions answer, it says nothing how much could be found by meaning. */
const HAS_MEANING: ReadonlySet<Page['mode']> = new Set(['hybrid', 'meaning'])

export type AnswerFacts = Pick<Page, 'verdict' | 'reason' | 'notes' | 'coverage' | 'mode' | 'lens'>

/** What an answer is worth: its verdict and why, what to know about it, how much was looked at. */
export function Verdict({ verdict, reason, notes, coverage, mode, lens }: AnswerFacts) {
  return (
    <div class="verdict">
      <p>
        <strong class={`verdict-word ${verdict}`}>{WORDS[verdict]}</strong>
        {reason && <span> {reason}</span>}
      </p>
      <ul>
        <li>lens {lens}</li>
        <li>{mode === 'list' ? 'a list by conditions' : `by ${mode === 'hybrid' ? 'words and meaning' : mode}`}</li>
        {HAS_MEANING.has(mode) && <li>{share(coverage.embedded)} embedded</li>}
        {!coverage.complete && <li class="warn">cut short by the deadline</li>}
        {coverage.failed.length > 0 && <li class="warn">no answer from {coverage.failed.join(', ')}</li>}
      </ul>
      {notes.map(({ code, message }) => (
        <p key={code + message} class="note">
          {message}
        </p>
      ))}
    </div>
  )
}

interface QuestionFormProps {
  /** The view that is asked; its address gets the question as `q`. */
  readonly view: string
  readonly name: string
  /** What asking does, as a button says it. */
  readonly action: string
  /** As asked last. */
  readonly question: string
  readonly placeholder?: string
}

/** One line to ask a view by. The field is sized by `<view>-ask` in the view's styles. */
export function QuestionForm({ view, name, action, question, placeholder }: QuestionFormProps) {
  return (
    <search>
      <form
        class="row"
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget).get('q')
          goTo(addressOf(view, [], { q: typeof given === 'string' ? given.trim() : '' }))
        }}
      >
        <label class={`field ${view}-ask`}>
          <span>{name}</span>
          <input
            type="search"
            name="q"
            data-key="/"
            defaultValue={question}
            placeholder={placeholder}
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <button type="submit" class="primary">
          {action}
        </button>
      </form>
    </search>
  )
}
