/** Leases of background work that nobody will give back any more. They stop nobody: whoever wants one next takes it. */
import type { Row } from '../../model/table.ts'
import { LEASES } from '../../store/core-tables.ts'
import type { Store } from '../../store/store.ts'
import { isGone } from '../background/holder.ts'
import { type Examined, finding } from './finding.ts'

/** A lease ends within seconds; one that ends this much later was taken by a clock that is ahead. */
const TOO_LATE_MS = 10 * 60_000

export function leasesFinding(store: Store, machineNow: () => number): Examined {
  const rows = store.table(LEASES).scan()
  const left = rows.filter(row => isLeft(row, machineNow()))
  if (left.length === 0) return finding('leases', true, 'none is left behind')
  const names = left.map(({ name }) => name).join(', ')
  return finding('leases', true, `left behind: ${names}`, null, async () => {
    await store.writeWhenFree(machineNow(), writer => {
      for (const { name, holder } of left) writer.table(LEASES).delete({ name: name ?? null, holder: holder ?? null })
    })
    return `released ${names}`
  })
}

function isLeft({ holder, expires_at }: Row, now: number): boolean {
  return isGone(String(holder)) || Number(expires_at) > now + TOO_LATE_MS
}
