import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { ExplainAnswer, Item, Page } from '../../../../src/model/page.ts'
import type { QueryInput } from '../../../../src/model/query-input.ts'
import { call } from '../../api.ts'
import { day } from '../../parts/format.ts'
import { Busy, EntryLink, Failure, MarkedText, titleOf } from '../../parts/parts.tsx'
import { colourOf, ExplanationTree, ScoreBar } from '../../parts/score.tsx'
import { useAnswer, useStateOf } from '../../parts/use-answer.ts'
import { isTyping } from '../../shell/keys.tsx'
import { requester, viewer } from '../../shell/session.ts'

export interface ResultProps {
  readonly item: Item
  /** The highest score of the answer: the longest bar. */
  readonly most: number
  readonly isActive: boolean
  readonly isOpen: boolean
  readonly isPicked: boolean
  focused(): void
  toggle(): void
  pick(): void
}

export function Result({ item, most, isActive, isOpen, isPicked, focused, toggle, pick }: ResultProps) {
  const id = useId()
  const { rank, score, components, excerpt, why, explanation } = item
  return (
    <article
      class={isPicked ? 'result card picked' : 'result card'}
      tabIndex={isActive ? 0 : -1}
      aria-labelledby={`${id}-title`}
      onFocus={focused}
    >
      <header>
        <h2 id={`${id}-title`}>
          <span class="quiet">{rank}.</span> <EntryLink id={item.id}>{titleOf(item)}</EntryLink>
        </h2>
        <p class="result-place quiet small">{placeOf(item)}</p>
      </header>
      <p class="result-excerpt text">
        <MarkedText excerpt={excerpt} />
      </p>
      {Object.keys(components).length > 0 && <ScoreBar score={score} components={components} most={most} />}
      <footer class="row small">
        {item.tags.slice(0, 8).map(tag => (
          <span key={tag} class="tag">
            {tag}
          </span>
        ))}
        <span class="result-tools">
          <button type="button" aria-expanded={isOpen} aria-controls={`${id}-why`} onClick={toggle}>
            Why
          </button>
          <button type="button" aria-pressed={isPicked} onClick={pick}>
            Compare
          </button>
        </span>
      </footer>
      <div id={`${id}-why`} class="result-why" hidden={!isOpen}>
        <p>{why}</p>
        {isOpen && explanation && <ExplanationTree tree={explanation} score={score} />}
        <p class="quiet small">
          id <code>{item.id}</code>, held by {item.holder}, from {item.source}, created {day(item.created_at)}, changed{' '}
          {day(item.updated_at)}
        </p>
      </div>
    </article>
  )
}

/** `docs/decay.md, lines 3 to 9 · Decay › Half life · notes · note`. */
function placeOf({ origin, excerpt: { start_line: from, end_line: to, section }, collection, kind }: Item): string {
  const lines = from === to ? `line ${from}` : `lines ${from} to ${to}`
  const place = origin === null ? lines : `${shortOrigin(origin)}, ${lines}`
  return [place, section.join(' › '), collection, kind].filter(part => part !== '').join(' · ')
}

/** The last folders of a path: the entry's page shows all of it. */
function shortOrigin(origin: string): string {
  const parts = origin.replace(/^file:\/\//, '').split('/')
  return parts.length > 3 ? `…/${parts.slice(-2).join('/')}` : origin
}

interface ResultsProps {
  readonly items: readonly Item[]
  readonly picked: readonly Item[]
  pick(item: Item): void
  clear(): void
}

/** The results in their order. Keys go from one to the next; one of them is in the order of tabs. */
export function Results({ items, picked, pick, clear }: ResultsProps) {
  const [active, setActive] = useState(0)
  const [open, setOpen] = useState<ReadonlySet<Item>>(new Set())
  const list = useRef<HTMLOListElement>(null)

  const toggle = (item: Item): void => {
    const next = new Set(open)
    if (!next.delete(item)) next.add(item)
    setOpen(next)
  }
  const goTo = (at: number): void => {
    const to = Math.max(0, Math.min(at, items.length - 1))
    setActive(to)
    list.current?.querySelectorAll<HTMLElement>('.result')[to]?.focus()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (document.querySelector('dialog[open]') !== null) return
    const isInField = isTyping(event)
    if (event.key === 'ArrowDown' && event.target instanceof HTMLInputElement && event.target.type === 'search') goTo(0)
    else if (isInField) return
    else if (event.key === 'Escape') {
      setOpen(new Set())
      clear()
    } else {
      const isHere = list.current?.contains(document.activeElement) === true
      const item = items[active]
      if (event.key === 'j' || event.key === 'ArrowDown') goTo(isHere ? active + 1 : active)
      else if (event.key === 'k' || event.key === 'ArrowUp') goTo(active - 1)
      else if (event.key === 'c' && item !== undefined) pick(item)
      else if (event.key === 'Enter' && item !== undefined && isResult(event.target)) toggle(item)
      else return
    }
    event.preventDefault()
  }
  const handler = useRef(onKey)
  handler.current = onKey
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => handler.current(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])

  const most = Math.max(...items.map(({ score }) => score), 0)
  return (
    <ol class="results" ref={list} aria-label="Results">
      {items.map((item, at) => (
        <li key={`${item.rank} ${item.holder} ${item.id}`}>
          <Result
            item={item}
            most={most > 0 ? most : 1}
            isActive={at === active}
            isOpen={open.has(item)}
            isPicked={picked.includes(item)}
            focused={() => setActive(at)}
            toggle={() => toggle(item)}
            pick={() => pick(item)}
          />
        </li>
      ))}
    </ol>
  )
}

/** Not a link or a button in it, which have their own meaning of Enter. */
function isResult(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.classList.contains('result')
}

interface ComparisonProps {
  readonly query: QueryInput
  readonly picked: readonly Item[]
  close(): void
}

/** Why this over that: the gap, what it is made of, and what would turn it round. Stays in sight while one picks. */
export function Comparison({ query, picked, close }: ComparisonProps) {
  const [above, below] = [...picked].sort((a, b) => a.rank - b.rank)
  const input = above && below ? { query, id: above.id, over: below.id } : null
  const { value, error, isLoading } = useAnswer<ExplainAnswer>('explain', input)
  return (
    <section class="comparison card" aria-label="Comparison" aria-live="polite">
      <header class="row">
        <h2>
          {above && (below ? `Why “${titleOf(above)}” over “${titleOf(below)}”` : `“${titleOf(above)}” is picked`)}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </header>
      {input === null && <p class="quiet">Pick another result to see why one is ranked above the other.</p>}
      {isLoading && <Busy what="Comparing" />}
      {error !== null && <Failure error={error} />}
      {value?.over && <Gap over={value.over} />}
      {value !== null && value.over === null && <p>{value.sentence}</p>}
    </section>
  )
}

function Gap({ over }: { readonly over: NonNullable<ExplainAnswer['over']> }) {
  const parts = Object.entries(over.by_component)
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), Number.MIN_VALUE)
  return (
    <>
      <p>{over.sentence}</p>
      <table class="comparison-parts">
        <thead>
          <tr>
            <th scope="col">Component</th>
            <th scope="col" class="number">
              Difference
            </th>
            <td />
          </tr>
        </thead>
        <tbody>
          {parts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{signed(value)}</td>
              <td class="comparison-bar" aria-hidden="true">
                <i class={value < 0 ? 'less' : ''} style={{ width: width(value, most), background: colourOf(name) }} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">gap</th>
            <td class="number">{signed(over.gap)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </>
  )
}

/** From the middle: to the right what speaks for the upper one. */
function width(value: number, most: number): string {
  return `${(Math.abs(value) / most) * 50}%`
}

function signed(value: number): string {
  if (value === 0) return '0'
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`
}

// An answer page by page: the first when the question changes, further ones when they are asked for.

export interface Pages {
  readonly first: Page | null
  readonly items: readonly Item[]
  /** Null: there are no more. */
  readonly cursor: string | null
  readonly error: unknown
  readonly isLoading: boolean
  more(): void
}

type State = Omit<Pages, 'more'>

const NOTHING: State = { first: null, items: [], cursor: null, error: null, isLoading: false }

export function usePages(asked: QueryInput | null): Pages {
  const key = JSON.stringify([asked, requester.value])
  const [state, setState] = useStateOf<State>(key, NOTHING)
  const controller = useRef(new AbortController())

  const load = (cursor: string | null): void => {
    const { signal } = controller.current
    // Looking as somebody else is no use of theirs.
    const input = { ...asked, explain: true, trace: cursor === null, touch: viewer.value === null }
    setState(last => ({ ...last, error: null, isLoading: true }))
    call<Page>('query', cursor === null ? input : { ...input, cursor }, signal).then(
      page => {
        setState(last => ({
          first: cursor === null ? page : last.first,
          items: cursor === null ? page.items : [...last.items, ...page.items],
          cursor: page.cursor,
          error: null,
          isLoading: false,
        }))
      },
      (error: unknown) => {
        if (!signal.aborted) setState(last => ({ ...(cursor === null ? NOTHING : last), error, isLoading: false }))
      },
    )
  }

  useEffect(() => {
    if (asked === null) return
    controller.current = new AbortController()
    load(null)
    return () => controller.current.abort()
  }, [key])

  const { cursor } = state
  return { ...state, more: () => cursor !== null && load(cursor) }
}

// The results that are picked to be compared: two at most, the one picked first goes when a third comes.

export interface Picked {
  readonly picked: readonly Item[]
  /** Again: not any more. */
  pick(item: Item): void
  clear(): void
}

/** `question`: where it changes, nothing is picked. */
export function usePicked(question: string): Picked {
  const [picked, setPicked] = useState<readonly Item[]>([])
  useEffect(() => setPicked([]), [question])
  return {
    picked,
    pick: item =>
      setPicked(last => (last.includes(item) ? last.filter(one => one !== item) : [...last, item].slice(-2))),
    clear: () => setPicked([]),
  }
}
