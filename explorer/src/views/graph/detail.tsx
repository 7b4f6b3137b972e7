import { useState } from 'preact/hooks'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { counted } from '../../parts/format.ts'
import { Dependants } from './dependants.tsx'
import { colourOf } from './kinds.ts'
import { callersOf, type Definition, definitionOf } from './lens.ts'
import { shownPlace } from './place.ts'
import { useAsked } from './use-asked.ts'

export interface DetailProps {
  readonly id: number
  readonly isOpen: boolean
  readonly onToggle: (id: number) => void
  readonly onSelect: (id: number) => void
}

/** What is chosen: where it stands, its text, and who calls it. */
export function Detail({ id, isOpen, onToggle, onSelect }: DetailProps) {
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
