/** The four memory modes (CQ-048). A node stores only the name; what it means is here, under the seed's names. */
import { saturate } from '../../../math/decay.ts'

/** Fastest fading first. Apart from the schemas: the explorer needs the names without their checks. */
export const MODE_NAMES = ['Sparse', 'Adaptive', 'Spacey', 'Eidetic'] as const
export type ModeName = (typeof MODE_NAMES)[number]

/** Shares of a score, together 1. */
export interface ScoreWeights {
  readonly relevance: number
  readonly recency: number
  readonly strength: number
}

/** What one viewer's use has made of one node. Times are Unix seconds. */
export interface NodeMemory {
  readonly last_accessed: number
  readonly access_count: number
  /** ≥ 0. */
  readonly strength_raw: number
  /** 0..1. */
  readonly decay_health: number
  readonly ascension: boolean
  readonly rotten: boolean
  /** Changes of this memory so far; a row's version is this plus the node's own. */
  readonly version: number
}

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

/** In the order of `MODE_NAMES`. */
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

/** What a node of this mode is ranked by when neither the call nor the settings say. */
export function weightsOf({ w_rel, w_rec, w_str }: Mode): ScoreWeights {
  return { relevance: w_rel, recency: w_rec, strength: w_str }
}

// What memory does to numbers (CQ-049 to CQ-052, CQ-066 to CQ-068, CQ-135, CQ-136, CQ-139, CQ-140). Pure; times are Unix
// seconds. Everything that ranks, shows or forecasts calls these, so that no two places differ in the last bit.

export const DAY = 86_400
/** With less health than this a node has faded. */
export const FADED = 0.5
/** Colour distance over which relevance falls to 1/e; the same for every mode. */
const RELEVANCE_REACH = 20
/** Raw strength that counts for a half. */
const STRENGTH_HALF = 5
/** The relevance that a decay cycle assumes, where nobody asks. */
const IDLE_RELEVANCE = 0.5

/** 0..1, 1 at distance 0. */
export function relevanceOf(distance: number): number {
  return Math.exp(-distance / RELEVANCE_REACH)
}

/** 0..1; a clock that ran backwards gives 1. */
export function recencyOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_rec_days, now - lastAccessed)
}

/** 0..1: how well a node kept that was not used since. */
export function healthOf(mode: Mode, lastAccessed: number, now: number): number {
  return fadedOver(mode.tau_decay_days, now - lastAccessed)
}

/** 0 up to, never reaching, 1. */
export function strengthNorm(raw: number): number {
  return saturate(raw, STRENGTH_HALF)
}

/** The raw strength whose norm this is. */
export function rawStrength(norm: number): number {
  return (STRENGTH_HALF * norm) / (1 - norm)
}

/** The score, 0 to 1: three weights that sum to 1, then relevance, recency and normalised strength. Makes no objects, for loops. */
export function combine(wRel: number, wRec: number, wStr: number, rel: number, rec: number, str: number): number {
  // Weights may sum to a last bit more than 1.
  return Math.min(1, wRel * rel + wRec * rec + wStr * str)
}

/**
 * A memory after one use at `now`. What ascended gains no strength; what was rotten is rescued. With memory switched off
 * (CQ-054) the use is only noted.
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

/** What one use adds to the strength of a node that was so recent before it. */
export function gainOf(mode: Mode, recency: number): number {
  const bonus = recency >= mode.recency_bonus_threshold ? 1 + mode.recency_bonus_gain * recency : 1
  return mode.strength_hit * bonus
}

/** Strength lost a day, as the exponent: e to the minus this is what a day leaves. */
export function strengthRate(mode: Mode): number {
  return mode.strength_decay_per_day * (1 - IDLE_RELEVANCE * mode.relevance_decay_protect)
}

/** What idle seconds leave of a strength. */
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
