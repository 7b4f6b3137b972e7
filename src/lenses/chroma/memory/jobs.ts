/** Daily, for everybody who has used anything and for the owner: a decay cycle, then a lifecycle check. */

import { QuerentError } from '../../../model/errors.ts'
import { OWNER } from '../../../model/partition.ts'
import type { Job, LensHost } from '../../lens.ts'
import { NODES } from '../tables.ts'
import { isDayOpen, lastCycle, openCycle, setDay } from './cycle-state.ts'
import { runDecayCycle } from './decay.ts'
import { DAY } from './formulas.ts'
import { runLifecycleCheck } from './lifecycle.ts'
import type { MemoryContext } from './memories.ts'
import { viewersWithMemory } from './memory-rows.ts'

/** How often it is looked whether a day has passed: an engine may be open for an hour only, or for weeks. */
const LOOK_EVERY_MS = 3_600_000

/** `contextOf` gives what the lens keeps for this host. */
export function memoryJobs(contextOf: (host: LensHost) => MemoryContext): readonly Job[] {
  return [
    {
      name: 'chroma.memory',
      everyMs: LOOK_EVERY_MS,
      run: async (host, now, signal, report, mustHold) => {
        const context = contextOf(host)
        const seconds = Math.floor(now / 1000)
        for (const viewer of viewersToServe(host)) {
          if (signal.aborted) return
          await serve(context, viewer, seconds, {
            ...{ signal, mustHold },
            report: progress => report({ ...progress, current: viewer }),
          })
        }
      },
    },
  ]
}

/** Nobody where there is no node: a store that knows nothing of colours stays as it is. */
function viewersToServe(host: LensHost): readonly string[] {
  if (host.store.table(NODES).scan({}, { limit: 1 }).length === 0) return []
  return [...new Set([OWNER, ...viewersWithMemory(host.store)])]
}

type RunInput = Pick<Parameters<typeof runDecayCycle>[2], 'signal' | 'report' | 'mustHold'>

/** A cycle that was cut off is finished at its own time; and the check is owed until it has been done. */
async function serve(context: MemoryContext, viewer: string, now: number, input: RunInput): Promise<void> {
  const { store, clock } = context.host
  const isDue = now - lastCycle(store, viewer) >= DAY
  if (!isDue && !isDayOpen(store, viewer)) return
  const open = openCycle(store, viewer)
  const at = open !== null && open.now <= now && now - open.now < DAY ? open.now : now
  const setDayTo = (state: 'open' | 'done') =>
    store.write(clock.now(), writer => {
      input.mustHold?.(writer)
      setDay(writer, viewer, state)
    })
  try {
    setDayTo('open')
    if (isDue) await runDecayCycle(context, viewer, { ...input, now: at })
    await runLifecycleCheck(context, viewer, { ...input, now })
    setDayTo('done')
  } catch (error) {
    // Ended in the middle: the next look goes on from there.
    if (!(error instanceof QuerentError && error.code === 'cancelled')) throw error
  }
}
