/** From which raw cosine on a belief means a term, by embedder model (BQ-040). */
import type { BeliefsSettings } from '../settings.ts'

export interface Thresholds {
  readonly include: number
  readonly exclude: number
}

/** Null: the model was not calibrated. */
export function thresholdsOf(settings: BeliefsSettings, model: string): Thresholds | null {
  return settings.thresholds.get(model) ?? null
}
