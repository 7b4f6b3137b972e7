/** From which raw cosine on a belief means a term, or is near a text at all, by embedder model (BQ-040, BQ-043). */

import type { BeliefsSettings } from '../beliefs-settings.ts'
import { SHIPPED } from '../calibration/calibrate.ts'

export interface Thresholds {
  readonly include: number
  readonly exclude: number
  /** Null: no belief is too far from a text. */
  readonly floor: number | null
}

/** What the settings say, else what came of calibration; null: the model was not calibrated. */
export function thresholdsOf(settings: BeliefsSettings, model: string): Thresholds | null {
  const set = settings.thresholds.get(model)
  const cut = SHIPPED.get(model)?.threshold ?? null
  if (set !== undefined) return { ...set, floor: set.floor ?? cut }
  return cut === null ? null : { include: cut, exclude: cut, floor: cut }
}
