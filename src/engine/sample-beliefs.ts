/** Fills a store with the sample of the lens `beliefs`, so that it can be asked before there are beliefs of one's own. */
import { loadSample, type SampleReport } from '../lenses/beliefs/sample/load.ts'
import { QuerentError } from '../model/errors.ts'
import type { Progress } from '../model/operation.ts'
import { isOwner, type Viewer } from '../model/viewer.ts'
import type { Engine } from './engine.ts'

/** The local owner's to do: it makes agents. Times are counted back from the engine's clock. Waits for vectors. */
export async function loadBeliefsSample(
  engine: Engine,
  viewer: Viewer,
  report?: (progress: Progress) => void,
): Promise<SampleReport> {
  if (!isOwner(viewer)) throw new QuerentError('denied', 'the sample: only the local owner may load it', {})
  const loaded = loadSample(engine.host('beliefs'))
  await engine.embedded(report)
  return loaded
}
