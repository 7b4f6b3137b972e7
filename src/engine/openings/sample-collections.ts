/** Fills a store with the sample of the lens `collections`, so that it can be asked before there is knowledge of one's own. */
import { sampleRecords } from '../../lenses/collections/sample/sample.ts'
import { LOCAL_OWNER } from '../../model/viewer.ts'
import type { Engine } from '../engine.ts'

/** Public, for whoever asks. Dates are counted back from the engine's clock. */
export async function putSample(engine: Engine): Promise<void> {
  const records = sampleRecords(engine.host('collections').clock.now())
  const entries = records.map(record => ({ ...record, visibility: 'public' as const }))
  await engine.put({ entries, wait: true }, { viewer: LOCAL_OWNER })
}
