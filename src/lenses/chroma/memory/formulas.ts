/** The four memory modes (CQ-048). A node stores only the name of its mode; the parameters of each mode are defined here. */
import { saturate } from '../../../math/decay.ts'

/** Names of the memory modes, the fastest-fading first. In a module without schemas, because the explorer needs the names alone. */
export const MODE_NAMES = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic'] as const
export type ModeName = (typeof MODE_NAMES)[number]

/** Weights of the parts of a score; they sum to 1. */
export interface ScoreWeights {
  readonly relevance: number
  readonly recency: number
  readonly strength: number
}

/** Memory of one node that results from one viewer's uses. Times are Unix seconds. */
export interface NodeMemory {
  readonly last_accessed: number
  readonly access_count: number
  /** Strength before normalisation, at least 0. */
  readonly strength_raw: number
  /** Health from 0 to 1; it falls while the node is idle. */
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  /** Number of changes of this memory; the version of a result row is this plus the node's own. */
  readonly version: number
}

export interface Mode {
  /** Time constant of recency: days after which it has fallen to 1/e. */
  readonly tau_rec_days: number
  /** Time constant of health: days after which it has fallen to 1/e. */
  readonly tau_decay_days: number
  /** Strength that one use adds to a node. */
  readonly strength_hit: number
  readonly strength_decay_per_day: number
  /** Recency of a node from which a use counts for more. */
  readonly recency_bonus_threshold: number
  /** How much more such a use counts: the added strength grows by this share of the recency. */
  readonly recency_bonus_gain: number
  /** Normalised strength from which a node ascends and stays permanently. */
  readonly ascension_norm: number
  /** A node rots when recency and strength are at or below these two values; null: it never rots. */
  readonly rot_recency_min: number | null
  readonly rot_strength_min: number | null
  /** Share of the strength's decay that relevance prevents. */
  readonly relevance_decay_protect: number
  readonly w_rel: number
  readonly w_rec: number
  readonly w_str: number
}

/** Parameters of the modes, in the order of `MODE_NAMES`. */
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

/** Weights by which a node of this mode is ranked when neither the call nor the settings give any. */
export function weightsOf({ w_rel, w_rec, w_str }: Mode): ScoreWeights {
  return { relevance: w_rel, recency: w_rec, strength: w_str }
}

// Formulas of memory (CQ-049 to CQ-052, CQ-066 to CQ-068, CQ-135, CQ-136, CQ-139, CQ-140). Pure functions; times are Unix seconds. All code
// that ranks, shows or forecasts calls these, so that no two results differ in the last bit.

export const DAY = 86_400
/** A node whose health is below this counts as faded. */
export const FADED = 0.5
/** Colour distance over which relevance falls to 1/e; the same for every mode. */
const RELEVANCE_REACH = 20
/** Raw strength whose normalised strength is one half. */
const STRENGTH_HALF = 5
/** The relevance that a decay cycle assumes, as there is no query. */
const IDLE_RELEVANCE = 0.5

/** Relevance from 0 to 1; 1 at colour distance 0. */
export function relevanceOf(distance: number): number {
  return Math.exp(-distance / RELEVANCE_REACH)
}

/** Recency from 0 to 1; 1 where the clock ran backwards. */
export function recencyOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_rec_days, now - lastAccessed)
}

/** Health of a node that was not used since `lastAccessed`, from 0 to 1. */
export function healthOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_decay_days, now - lastAccessed)
}

/** Normalised strength: 0 up to, but never reaching, 1. */
export function strengthNorm(raw: number): number {
  return saturate(raw, STRENGTH_HALF)
}

/** The raw strength that has this normalised strength. */
export function rawStrength(norm: number): number {
  return (STRENGTH_HALF * norm) / (1 - norm)
}

/** 0..1, of three weights that sum to 1, then relevance, recency and normalised strength. Loops call it: it makes no objects. */
export function combine(wRel: number, wRec: number, wStr: number, rel: number, rec: number, str: number): number {
  // Limited to 1, since rounded weights may sum to slightly more than 1.
  return Math.min(1, wRel * rel + wRec * rec + wStr * str)
}

/**
 * A memory after one use at `now`. A node that ascended gains no strength; a rotten node is rescued. With memory switched off (CQ-054) the
 * use is only recorded.
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

/** Strength that one use adds to a node whose recency before the use was `recency`. */
export function gainOf(mode: Mode, recency: number): number {
  const bonus = recency >= mode.recency_bonus_threshold ? 1 + mode.recency_bonus_gain * recency : 1
  return mode.strength_hit * bonus
}

/** Rate at which strength decays per day: e to the power of minus this rate is the share left after a day. */
export function strengthRate(mode: Mode): number {
  return mode.strength_decay_per_day * (1 - IDLE_RELEVANCE * mode.relevance_decay_protect)
}

/** The strength that is left after this many idle seconds. */
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
