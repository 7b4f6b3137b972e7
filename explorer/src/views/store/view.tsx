import { Busy } from '../../parts/busy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { viewer } from '../../shell/session.ts'
import { isOwner } from '../../shell/store-facts.ts'
import type { ViewProps } from '../../view-props.ts'
import { Collections } from './collections.tsx'
import { Doctor } from './doctor.tsx'
import { EntryList } from './entry-list.tsx'
import { Indexes } from './indexes.tsx'
import { Overview } from './overview.tsx'
import { useStatus } from './use-status.ts'
import './store.css'

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
