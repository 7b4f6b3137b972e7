/** The lens's part of the configuration. */
import { DEFAULT_DECAY, type DecayTable } from './measures/decay.ts'

export interface BeliefsSettings {
  readonly decay: DecayTable
  /** First hops (or routes) that a transitive value needs lest it be capped (BQ-075). */
  readonly sybilThreshold: number
  readonly sybilCap: number
  readonly sybilRule: 'first_hops' | 'disjoint'
  /** Whether young agents are capped transitively and halve the routes through them (BQ-076). */
  readonly newAgentCap: boolean
  /** In agents that nothing is known of. */
  readonly defaultTrust: number
  /** Raw cosines by key of the embedder's model, in place of calibrated ones (BQ-040). */
  readonly thresholds: ReadonlyMap<string, { readonly include: number; readonly exclude: number }>
}

export const DEFAULTS: BeliefsSettings = {
  decay: DEFAULT_DECAY,
  sybilThreshold: 2,
  sybilCap: 0.3,
  sybilRule: 'first_hops',
  newAgentCap: false,
  defaultTrust: 0.1,
  thresholds: new Map(),
}
