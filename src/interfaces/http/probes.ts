/** For whoever runs the process: `/healthz`, whether it is alive, and `/readyz`, whether it should be sent requests. */
import type { Engine } from '../../engine/engine.ts'
import { QuerentError } from '../../model/errors.ts'
import type { App } from './env.ts'

/** Whether there is an entry of this id does not matter. */
const ANY_ID = 'readyz'

/** Both answer anybody, and tell nothing of what is known here. */
export function mountProbes(app: App, engine: Engine, ending: AbortSignal): void {
  app.get('/healthz', c => c.json({ ok: true }))
  let areIndexesLoaded = false
  app.get('/readyz', async c => {
    const failing = ending.aborted ? 'ending' : await storeOrIndexes()
    return c.json({ ready: failing === null, failing }, failing === null ? 200 : 503)
  })

  async function storeOrIndexes(): Promise<'store' | 'indexes' | null> {
    if (!(await isStoreRead(engine))) return 'store'
    // Only once: it reads them all and counts. What is loaded stays so.
    areIndexesLoaded ||= await engine.status().then(
      () => true,
      () => false,
    )
    return areIndexesLoaded ? null : 'indexes'
  }
}

async function isStoreRead(engine: Engine): Promise<boolean> {
  try {
    await engine.get({ id: ANY_ID })
    return true
  } catch (thrown) {
    return thrown instanceof QuerentError && thrown.kind === 'not_found'
  }
}
