/** From which raw cosine on a belief means a term, by embedder model (BQ-040). */
import { SHIPPED } from '../calibration/shipped.ts'
import type { BeliefsSettings } from '../settings.ts'

export interface Thresholds {
  readonly include: number
  readonly exclude: number
}

/** What the settings say, else what came of calibration; null: the model was not calibrated. */
export function thresholdsOf(settings: BeliefsSettings, model: string): Thresholds | null {
  const set = settings.thresholds.get(model)
  if (set !== undefined) return set
  const calibrated = SHIPPED.get(model)
  return calibrated === undefined ? null : { include: calibrated.threshold, exclude: calibrated.threshold }
}
