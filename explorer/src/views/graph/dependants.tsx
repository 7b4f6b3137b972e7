import { useState } from 'preact/hooks'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { count, counted } from '../../parts/format.ts'
import type { Dependants as Found } from './lens.ts'
import { shownPlace } from './place.ts'
import { useAsked } from './use-asked.ts'

export interface DependantsProps {
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
