/** The four memory modes (CQ-048). A node stores only the name; what it means is here, under the seed's names. */

import { MODE_NAMES, type ModeName } from '../mode-names.ts'
import type { ScoreWeights } from '../model.ts'

export interface Mode {
  /** Days after which recency has fallen to 1/e. */
  readonly tau_rec_days: number
  /** Days after which health has fallen to 1/e. */
  readonly tau_decay_days: number
  /** Strength that one use adds. */
  readonly strength_hit: number
  readonly strength_decay_per_day: number
  /** Recency from which a use counts for more, */
  readonly recency_bonus_threshold: number
  /** and by how much: the hit grows by this share of the recency. */
  readonly recency_bonus_gain: number
  /** Normalised strength from which a node stays for good. */
  readonly ascension_norm: number
  /** At or below both a node rots; null: never. */
  readonly rot_recency_min: number | null
  readonly rot_strength_min: number | null
  /** Share of the decay that relevance keeps off. */
  readonly relevance_decay_protect: number
  readonly w_rel: number
  readonly w_rec: number
  readonly w_str: number
}

export const MODES: Readonly<Record<ModeName, Mode>> = {
  Sparse: {
    tau_rec_days: 1.5,
    tau_decay_days: 60,
    strength_hit: 0.06,
    strength_decay_per_day: 0.15,
    recency_bonus_threshold: 0.7,
    recency_bonus_gain: 1,
    ascension_norm: 0.85,
    rot_recency_min: 0.05,
    rot_strength_min: 0.2,
    relevance_decay_protect: 0.3,
    w_rel: 0.6,
    w_rec: 0.3,
    w_str: 0.1,
  },
  Adaptive: {
    tau_rec_days: 3,
    tau_decay_days: 90,
    strength_hit: 0.1,
    strength_decay_per_day: 0.05,
    recency_bonus_threshold: 0.7,
    recency_bonus_gain: 1,
    ascension_norm: 0.8,
    rot_recency_min: 0.03,
    rot_strength_min: 0.15,
    relevance_decay_protect: 0.2,
    w_rel: 0.5,
    w_rec: 0.3,
    w_str: 0.2,
  },
  Spacey: {
    tau_rec_days: 2,
    tau_decay_days: 60,
    strength_hit: 0.1,
    strength_decay_per_day: 0.08,
    recency_bonus_threshold: 0.7,
    recency_bonus_gain: 1,
    ascension_norm: 0.85,
    rot_recency_min: 0.05,
    rot_strength_min: 0.25,
    relevance_decay_protect: 0.2,
    w_rel: 0.5,
    w_rec: 0.2,
    w_str: 0.3,
  },
  Eidetic: {
    tau_rec_days: 7,
    tau_decay_days: 120,
    strength_hit: 0.12,
    strength_decay_per_day: 0.02,
    recency_bonus_threshold: 0.6,
    recency_bonus_gain: 1,
    ascension_norm: 0.9,
    rot_recency_min: null,
    rot_strength_min: null,
    relevance_decay_protect: 0.1,
    w_rel: 0.4,
    w_rec: 0.2,
    w_str: 0.4,
  },
}

export const DEFAULT_MODE: ModeName = 'Adaptive'

export function isModeName(name: unknown): name is ModeName {
  return (MODE_NAMES as readonly unknown[]).includes(name)
}

/** What a node of this mode is ranked by when neither the call nor the settings say. */
export function weightsOf({ w_rel, w_rec, w_str }: Mode): ScoreWeights {
  return { relevance: w_rel, recency: w_rec, strength: w_str }
}
