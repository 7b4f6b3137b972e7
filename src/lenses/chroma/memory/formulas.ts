/**
 * The four memory modes (CQ-048), which determine how fast a node's memory fades. A node stores only the name of its mode; the numbers of
 * each mode are defined in this file.
 */
import { saturate } from '../../../math/decay.ts'

/**
 * Names of the memory modes, the fastest-fading first. They are in a module without schemas so that the explorer in the browser can import
 * the names alone.
 */
export const MODE_NAMES = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic'] as const
export type ModeName = (typeof MODE_NAMES)[number]

/** Weights of relevance, recency and strength in the score of a node; they sum to 1. */
export interface ScoreWeights {
  readonly relevance: number
  readonly recency: number
  readonly strength: number
}

/** One viewer's memory of one node, which results from the viewer's uses of the node. Times are Unix seconds. */
export interface NodeMemory {
  readonly last_accessed: number
  readonly access_count: number
  /** Raw strength of the node, before it is normalised to 0..1; at least 0. */
  readonly strength_raw: number
  /** Health of the node from 0 to 1; it falls while the node is not used. */
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  /** Number of changes of this memory. The version in a result row is this number plus the version of the node itself. */
  readonly version: number
}

export interface Mode {
  /** Time constant of recency in days: after so many days without use, recency has fallen to 1/e. */
  readonly tau_rec_days: number
  /** Time constant of health in days: after so many days without use, health has fallen to 1/e. */
  readonly tau_decay_days: number
  /** Raw strength that one use adds to a node of this mode, without the bonus for recency. */
  readonly strength_hit: number
  readonly strength_decay_per_day: number
  /** Recency of a node (0 to 1) at and above which a use adds a bonus to its strength. */
  readonly recency_bonus_threshold: number
  /** Bonus of a use at or above the recency threshold: the strength that the use adds is multiplied by 1 + this gain × recency. */
  readonly recency_bonus_gain: number
  /** Normalised strength (0 to 1) at which a node ascends and then stays permanently. */
  readonly ascension_norm: number
  /**
   * A node becomes rotten when its recency is at or below `rot_recency_min` and its strength at or below `rot_strength_min`; null: nodes of
   * this mode never rot.
   */
  readonly rot_recency_min: number | null
  readonly rot_strength_min: number | null
  /** How much relevance slows the decay of strength: the rate is multiplied by 1 - this share × relevance. */
  readonly relevance_decay_protect: number
  readonly w_rel: number
  readonly w_rec: number
  readonly w_str: number
}

/** Parameters of the memory modes; each list has one value per mode, in the order of `MODE_NAMES`. */
const PARAMETERS: { readonly [K in keyof Mode]: readonly Mode[K][] } = {
  tau_rec_days: [1.5, 3, 2, 7],
  tau_decay_days: [60, 90, 60, 120],
  strength_hit: [0.06, 0.1, 0.1, 0.12],
  strength_decay_per_day: [0.15, 0.05, 0.08, 0.02],
  recency_bonus_threshold: [0.7, 0.7, 0.7, 0.6],
  recency_bonus_gain: [1, 1, 1, 1],
  ascension_norm: [0.85, 0.8, 0.85, 0.9],
  rot_recency_min: [0.05, 0.03, 0.05, null],
  rot_strength_min: [0.2, 0.15, 0.25, null],
  relevance_decay_protect: [0.3, 0.2, 0.2, 0.1],
  w_rel: [0.6, 0.5, 0.5, 0.4],
  w_rec: [0.3, 0.3, 0.2, 0.2],
  w_str: [0.1, 0.2, 0.3, 0.4],
}

export const MODES: Readonly<Record<ModeName, Mode>> = Object.fromEntries(
  MODE_NAMES.map((name, at) => [
    name,
    Object.fromEntries(Object.entries(PARAMETERS).map(([parameter, values]) => [parameter, values[at]])),
  ]),
) as Record<ModeName, unknown> as Record<ModeName, Mode>

export function isModeName(name: unknown): name is ModeName {
  return (MODE_NAMES as readonly unknown[]).includes(name)
}

/** Weights of relevance, recency and strength for a node of this mode, used when neither the call nor the settings give weights. */
export function weightsOf({ w_rel, w_rec, w_str }: Mode): ScoreWeights {
  return { relevance: w_rel, recency: w_rec, strength: w_str }
}

// Formulas of a node's memory (CQ-049 to CQ-052, CQ-066 to CQ-068, CQ-135, CQ-136, CQ-139, CQ-140), as pure functions; times are Unix
// seconds. Ranking, display and forecast all call these functions, so that their results agree to the last bit.

export const DAY = 86_400
/** Health (0 to 1) below which a node counts as faded. */
export const FADED = 0.5
/** CIELAB distance at which relevance has fallen to 1/e; equal for every memory mode. */
const RELEVANCE_REACH = 20
/** Raw strength whose normalised strength is one half: norm = raw / (raw + 5). */
const STRENGTH_HALF = 5
/** Relevance that a decay cycle assumes for every node, since a cycle has no query to compute it from. */
const IDLE_RELEVANCE = 0.5

/** Relevance of a node, from 0 to 1, at this CIELAB distance from the query: e^(-distance / 20). */
export function relevanceOf(distance: number): number {
  return Math.exp(-distance / RELEVANCE_REACH)
}

/**
 * Recency of a node, from 0 to 1: e^(-days since the last access / `tau_rec_days`); 1 where the last access lies in the future because the
 * clock was set back.
 */
export function recencyOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_rec_days, now - lastAccessed)
}

/** Health of a node, from 0 to 1: e^(-days since the last access / `tau_decay_days`). */
export function healthOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_decay_days, now - lastAccessed)
}

/** Normalised strength raw / (raw + 5): at least 0 and below 1. */
export function strengthNorm(raw: number): number {
  return saturate(raw, STRENGTH_HALF)
}

/** The raw strength whose normalised strength is `norm`: 5 · norm / (1 - norm). */
export function rawStrength(norm: number): number {
  return (STRENGTH_HALF * norm) / (1 - norm)
}

/**
 * Score from 0 to 1: the sum of relevance, recency and normalised strength, each times its weight; the weights sum to 1. It takes plain
 * numbers and makes no objects, because inner loops call it.
 */
export function combine(wRel: number, wRec: number, wStr: number, rel: number, rec: number, str: number): number {
  // The score is limited to 1, since rounded weights may sum to slightly more than 1.
  return Math.min(1, wRel * rel + wRec * rec + wStr * str)
}

/**
 * The memory of a node after one use at `now`. A use gives no strength to an ascended (permanent) node, and makes a rotten node no longer
 * rotten. With memory switched off (CQ-054), only the time and the number of uses change.
 */
export function reinforced<M extends NodeMemory>(memory: M, mode: Mode, now: number, memoryEnabled = true): M {
  const gains = memoryEnabled && !memory.ascension
  return {
    ...memory,
    last_accessed: Math.max(memory.last_accessed, now),
    access_count: memory.access_count + 1,
    strength_raw: memory.strength_raw + (gains ? gainOf(mode, recencyOf(mode, memory.last_accessed, now)) : 0),
    rotten: false,
    version: memory.version + 1,
  }
}

/**
 * Raw strength that one use adds to a node whose recency before the use was `recency`: `strength_hit`, times 1 + gain × recency where the
 * recency is at or above the mode's threshold.
 */
export function gainOf(mode: Mode, recency: number): number {
  const bonus = recency >= mode.recency_bonus_threshold ? 1 + mode.recency_bonus_gain * recency : 1
  return mode.strength_hit * bonus
}

/** Rate at which strength decays per day; after a day, e^(-rate) of the strength is left. */
export function strengthRate(mode: Mode): number {
  return mode.strength_decay_per_day * (1 - IDLE_RELEVANCE * mode.relevance_decay_protect)
}

/** The raw strength that is left of `strength` after so many seconds without use. */
export function decayedStrength(mode: Mode, strength: number, seconds: number): number {
  return strength * Math.exp((-strengthRate(mode) * Math.max(0, seconds)) / DAY)
}

export function ascends(mode: Mode, strength: number): boolean {
  return strengthNorm(strength) >= mode.ascension_norm
}

export function rots(mode: Mode, lastAccessed: number, strength: number, now: number): boolean {
  const { rot_recency_min, rot_strength_min } = mode
  if (rot_recency_min === null || rot_strength_min === null) return false
  return recencyOf(mode, lastAccessed, now) <= rot_recency_min && strengthNorm(strength) <= rot_strength_min
}

function fadedOver(tauDays: number, seconds: number): number {
  return Math.exp(-(Math.max(0, seconds) / DAY) / tauDays)
}
