import { Busy, Empty, EntryLink, Failure, titleOf } from '../../parts/parts.tsx'
import { addressOf, type ViewProps } from '../../shell/router.ts'
import { requester, viewer } from '../../shell/session.ts'
import { isOwner } from '../../shell/store-facts.ts'
import './store.css'
import { useEffect, useState } from 'preact/hooks'
import type { Examination, ListPage, Status } from '../../../../src/engine/engine.ts'
import { call, pause } from '../../api.ts'
import { bytes, count, moment, share } from '../../parts/format.ts'
import { type Answer, useAnswer, useStateOf } from '../../parts/use-answer.ts'

export function Collections({ collections }: Pick<Status, 'collections'>) {
  const most = Math.max(...collections.map(one => one.count), 1)
  return (
    <section class="card" aria-label="Collections">
      <h2>Collections</h2>
      {collections.length === 0 && (
        <Empty title="There is nothing here yet">
          <p>
            Add what you know: <code>querent add notes</code>
          </p>
        </Empty>
      )}
      <ul class="store-collections">
        {collections.map(({ value, count: entries }) => (
          <li key={value}>
            <a href={addressOf('search', [], { collection: value })}>{value}</a>
            <span class="store-bar" aria-hidden="true">
              <i style={{ width: `${(entries / most) * 100}%` }} />
            </span>
            <span>{count(entries)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

type Visit = 'not yet' | 'examining' | Examination | Error

/** The examination, when the owner asks for it: it reads everything. Repairs nothing. */
export function Doctor() {
  const [visit, setVisit] = useState<Visit>('not yet')
  const examine = (): void => {
    setVisit('examining')
    call<Examination>('doctor').then(setVisit, setVisit)
  }
  return (
    <section class="card" aria-label="Doctor">
      <h2>Doctor</h2>
      <p class="quiet">Reads store, indexes and embedder through, and says what is wrong with them. Changes nothing.</p>
      <button type="button" disabled={visit === 'examining'} onClick={examine}>
        Examine
      </button>
      <div aria-live="polite">
        {visit === 'examining' && <Busy what="Examining" />}
        {visit instanceof Error && <Failure error={visit} />}
        {typeof visit === 'object' && 'findings' in visit && <Findings {...visit} />}
      </div>
    </section>
  )
}

function Findings({ ok, findings }: Examination) {
  return (
    <>
      <p class={ok ? 'store-well' : 'bad'}>{ok ? 'All is well.' : 'Something is wrong.'}</p>
      <ul class="store-findings">
        {findings.map(({ check, ok: isWell, message, help }) => (
          <li key={check + message}>
            <strong class={isWell ? 'store-well' : 'bad'}>
              {isWell ? '✓' : '✗'} {check}
            </strong>{' '}
            {message}
            {help !== null && <p class="note">{help}</p>}
          </li>
        ))}
      </ul>
    </>
  )
}

const ORDERS = { updated: 'changed last', created: 'newest', accessed: 'used last', id: 'by id' } as const
type Order = keyof typeof ORDERS

const PAGE = 25

/** All entries, a page at a time: however many there are, so many are asked for. */
function EntryList() {
  const [order, setOrder] = useState<Order>('updated')
  /** Where the pages before this one began. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  const first = (): void => setCursors([])
  useEffect(first, [requester.value])
  const cursor = cursors.at(-1)
  const { value, error, isLoading } = useAnswer<ListPage>('list', { order, limit: PAGE, ...(cursor && { cursor }) })
  const from = cursors.length * PAGE
  return (
    <section class="card" aria-label="Entries">
      <header class="row">
        <h2>Entries</h2>
        <label class="field small">
          <span>Order</span>
          <select
            name="order"
            value={order}
            onChange={event => {
              setOrder(event.currentTarget.value as Order)
              first()
            }}
          >
            {Object.entries(ORDERS).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </header>
      {error !== null && <Failure error={error} />}
      {isLoading && value === null && <Busy what="Listing" />}
      {value !== null && (
        <>
          <ul class="store-entries">
            {value.items.map(entry => (
              <li key={`${entry.holder} ${entry.id}`}>
                <EntryLink id={entry.id}>{titleOf(entry)}</EntryLink>
                <span class="quiet small">
                  {entry.collection} · {entry.kind} · {moment(entry.updated_at)}
                </span>
              </li>
            ))}
          </ul>
          <nav class="row" aria-label="Pages of entries">
            <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
              Before
            </button>
            <span class="quiet small" role="status">
              {value.total === 0
                ? 'none'
                : `${count(from + 1)} to ${count(from + value.items.length)} of ${count(value.total)}`}
            </span>
            <button
              type="button"
              disabled={value.cursor === null || isLoading}
              onClick={() => value.cursor !== null && setCursors([...cursors, value.cursor])}
            >
              Next
            </button>
          </nav>
        </>
      )}
    </section>
  )
}

export function Indexes({ indexes }: Pick<Status, 'indexes'>) {
  return (
    <section class="card" aria-label="Indexes">
      <h2>Indexes</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Index</th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Memory
            </th>
          </tr>
        </thead>
        <tbody>
          {indexes.map(index => (
            <tr key={index.name}>
              <th scope="row">{index.name}</th>
              <td class="number">{index.rows === null ? '–' : count(index.rows)}</td>
              <td class="number">{index.bytes === null ? '–' : bytes(index.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Overview({ status }: { readonly status: Status }) {
  const { version, home, entries, chunks, embedded, embedder, embedder_error: failure, lenses, storage } = status
  return (
    <>
      {home !== null && (
        <p class="quiet small">
          in <code>{home}</code>
          {storage?.to_erase && '; of what was deleted, bytes are still to be erased from its log'}
        </p>
      )}
      <dl class="store-numbers">
        <Figure name="Entries" value={count(entries)} />
        <Figure name="Chunks" value={count(chunks)} />
        <Figure name="Lenses" value={count(lenses.length)} />
        {storage !== null && <Figure name="Log" value={bytes(storage.log_bytes)} />}
        <Figure name="Querent" value={version} />
      </dl>
      <section class="card" aria-label="Embedding">
        <h2>Embedding</h2>
        {embedder === null ? (
          <p>No embedding model is installed: queries search by words alone.</p>
        ) : (
          <>
            <Embedding embedded={embedded} chunks={chunks} />
            <p class="quiet small">
              {embedder.id}, {embedder.dimensions} dimensions
              {embedder.runs_on !== null &&
                `, ${embedder.runs_on.runtime === 'native' ? 'native' : 'WebAssembly'} runtime`}
            </p>
          </>
        )}
        {failure !== null && <p class="bad">{failure}</p>}
      </section>
    </>
  )
}

function Embedding({ embedded, chunks }: { readonly embedded: number; readonly chunks: number }) {
  const part = chunks === 0 ? 1 : embedded / chunks
  return (
    <>
      <progress max={1} value={part} aria-label="Chunks that have a vector" />
      <p role="status">
        {part === 1 ? 'Everything is embedded.' : `${share(part)}: ${count(embedded)} of ${count(chunks)} chunks.`}
      </p>
    </>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div class="card">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

// The state of the store, asked again and again while somebody looks: oftener while it is being embedded.

const AT_WORK_MS = 1_000
const AT_REST_MS = 5_000

const BEGINNING: Answer<Status> = { value: null, error: null, isLoading: true }

function useStatus(): Answer<Status> {
  const [answer, setAnswer] = useStateOf<Answer<Status>>(requester.value, BEGINNING)
  useEffect(() => {
    const controller = new AbortController()
    void poll(controller.signal, answer => setAnswer(() => answer))
    return () => controller.abort()
  }, [requester.value])
  return answer
}

/** Never two at a time, however long one takes. */
async function poll(signal: AbortSignal, tell: (answer: Answer<Status>) => void): Promise<void> {
  let value: Status | null = null
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      try {
        value = await call<Status>('status', {}, signal)
        tell({ value, error: null, isLoading: false })
      } catch (error) {
        if (signal.aborted) return
        tell({ value, error, isLoading: false })
      }
    }
    await pause(value !== null && isAtWork(value) ? AT_WORK_MS : AT_REST_MS, signal)
  }
}

function isAtWork({ embedder, chunks, embedded }: Status): boolean {
  return embedder !== null && embedded < chunks
}

/** What the store holds, how far it is embedded and indexed, and whether it is well. */
export function View(_: ViewProps) {
  const { value: status, error } = useStatus()
  return (
    <div class="store stack">
      <h1>Store</h1>
      {error !== null && <Failure error={error} />}
      {status === null && error === null && <Busy what="Looking at the store" />}
      {status !== null && (
        <>
          <Overview status={status} />
          <div class="split">
            <Collections collections={status.collections} />
            <Indexes indexes={status.indexes} />
          </div>
          <EntryList />
          {isOwner.value && viewer.value === null && <Doctor />}
        </>
      )}
    </div>
  )
}
