import { useState } from 'preact/hooks'
import type { Examination } from '../../../../src/engine/engine.ts'
import { call } from '../../api/call.ts'
import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'

type Visit = 'not yet' | 'examining' | Examination | Error

/** The examination, when the owner asks for it: it reads everything. Mends nothing. */
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
