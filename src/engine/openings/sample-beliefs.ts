/** Fills a store with the sample of the lens `beliefs`, so that it can be asked before there are beliefs of one's own. */

import { loadSample, type SampleReport } from '../../lenses/beliefs/sample/load.ts'
import { KIND } from '../../lenses/beliefs/tables.ts'
import { embedEntries } from '../../lenses/embed-entries.ts'
import { QuerentError } from '../../model/errors.ts'
import type { Progress } from '../../model/operation.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { Engine } from '../engine.ts'

/** The local owner's to do: it makes agents. Times are counted back from the engine's clock. Waits for vectors. */
export async function loadBeliefsSample(
  engine: Engine,
  viewer: Viewer,
  report?: (progress: Progress) => void,
): Promise<SampleReport> {
  if (!isOwner(viewer)) throw new QuerentError('denied', 'the sample: only the local owner may load it', {})
  const host = engine.host('beliefs')
  const loaded = await loadSample(host)
  const beliefs = host.store.matching(host.sight(viewer), { op: 'eq', field: 'kind', value: KIND })
  await embedEntries(host, [...beliefs], new AbortController().signal, report)
  return loaded
}
