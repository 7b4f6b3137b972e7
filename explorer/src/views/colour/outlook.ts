/** What a node looks like at a moment to come, if nobody uses it until then: by the lens's own formulas. */
import { decayedStrength, FADED, healthOf, MODES, strengthNorm } from '../../../../src/lenses/chroma/memory/formulas.ts'
import type { NodePoint } from '../../../../src/lenses/chroma/nodes/points.ts'

export const LIVES = ['active', 'faded', 'rotten', 'ascended'] as const
export type Life = (typeof LIVES)[number]

export interface Outlook {
  readonly life: Life
  /** 0 to below 1. */
  readonly strength: number
  /** 0 to 1. */
  readonly health: number
}

/** `at`: Unix seconds. */
export function outlookAt(point: NodePoint, at: number): Outlook {
  const { mode_name, strength_raw, last_accessed, decays_from, ascends_at } = point
  const mode = MODES[mode_name]
  const isAscended = point.state === 'ASCENDED' || hasCome(ascends_at, at)
  // What ascends keeps what it had then.
  const until = ascends_at !== null && isAscended ? ascends_at : at
  const strength = strengthNorm(
    decays_from === null ? strength_raw : decayedStrength(mode, strength_raw, until - decays_from),
  )
  if (isAscended) return { life: 'ascended', strength, health: 1 }
  const health = decays_from === null ? 1 : healthOf(mode, last_accessed, at)
  if (point.state === 'ROTTEN' || hasCome(point.rots_at, at)) return { life: 'rotten', strength, health }
  return { life: health < FADED ? 'faded' : 'active', strength, health }
}

function hasCome(moment: number | null, at: number): boolean {
  return moment !== null && moment <= at
}

/** Of many, as numbers for drawing. */
export interface Outlooks {
  readonly counts: Readonly<Record<Life, number>>
  /** By place in `LIVES`. */
  readonly lives: Float32Array
  readonly strengths: Float32Array
  readonly healths: Float32Array
}

export function outlooksAt(points: readonly NodePoint[], at: number): Outlooks {
  const counts = { active: 0, faded: 0, rotten: 0, ascended: 0 }
  const [lives, strengths, healths] = [0, 0, 0].map(() => new Float32Array(points.length)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ]
  for (const [index, point] of points.entries()) {
    const { life, strength, health } = outlookAt(point, at)
    counts[life]++
    lives[index] = LIVES.indexOf(life)
    strengths[index] = strength
    healths[index] = health
  }
  return { counts, lives, strengths, healths }
}
