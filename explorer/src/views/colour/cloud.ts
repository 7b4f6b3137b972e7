/** The nodes of the space as they come, page by page, with what a graphics card wants of them. */

import { useEffect } from 'preact/hooks'
import { hexOf } from '../../../../src/lenses/chroma/lab-color.ts'
import { decayedStrength, FADED, healthOf, MODES, strengthNorm } from '../../../../src/lenses/chroma/memory/formulas.ts'
import type { NodePoint, PointsPage } from '../../../../src/lenses/chroma/nodes/points.ts'
import { call } from '../../api.ts'
import { useStateOf } from '../../parts/use-answer.ts'
import { requester } from '../../shell/session.ts'
import { placeOf } from './scene-parts.ts'

// What the view asks the lens chroma for. None of it counts as a use of what is shown.

/** Nodes a page. */
export const PAGE = 5_000
/** How far the view looks ahead. */
export const DAYS = 365
/** Hits of one question. */
const HITS = 12

function pointsFrom(offset: number, signal: AbortSignal): Promise<PointsPage> {
  return call('chroma.points', { offset, limit: PAGE }, signal)
}

/** Input of `chroma.query`. Words that all begin with `#` are hashtags; others are a text. Null: nothing is asked. */
export function inputOf(question: string): object | null {
  const words = question.split(/[\s,]+/).filter(word => word !== '')
  if (words.length === 0) return null
  const asked = words.every(word => word.startsWith('#')) ? { hashtags: words } : { input: question }
  return { ...asked, k: HITS, update_access: false }
}

/** More would need more memory than a page should take; some 1 kB each. */
const MAX_DRAWN = 200_000

export interface Cloud {
  /** Unix seconds: the moment that the first page tells of. */
  readonly now: number
  /** Nodes that the viewer sees, drawn or not. */
  readonly total: number
  readonly points: readonly NodePoint[]
  /** Three numbers a point; longer than the points are while more are to come. */
  readonly positions: Float32Array
  readonly colours: Float32Array
  readonly isWhole: boolean
}

/** Each is the one before with a page more. */
async function* cloudsOf(signal: AbortSignal): AsyncGenerator<Cloud> {
  const { now, total, points: first } = await pointsFrom(0, signal)
  const room = Math.min(total, MAX_DRAWN)
  const [positions, colours] = [new Float32Array(room * 3), new Float32Array(room * 3)]
  const points: NodePoint[] = []
  let page = first
  for (let offset = 0; ; ) {
    for (const point of page.slice(0, room - points.length)) {
      positions.set(placeOf(point.color), points.length * 3)
      colours.set(screenColour(point.color), points.length * 3)
      points.push(point)
    }
    offset += PAGE
    const isWhole = offset >= room
    yield { now, total, points: [...points], positions, colours, isWhole }
    if (isWhole) return
    page = (await pointsFrom(offset, signal)).points
  }
}

/** Red, green and blue, 0 to 1. */
export function screenColour(color: readonly [number, number, number]): readonly [number, number, number] {
  const bits = Number.parseInt(hexOf(color).slice(1), 16)
  return [((bits >> 16) & 255) / 255, ((bits >> 8) & 255) / 255, (bits & 255) / 255]
}

// What a node looks like at a moment to come, if nobody uses it until then: by the lens's own formulas.

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

export interface Loading {
  /** As far as it has come. */
  readonly cloud: Cloud | null
  readonly error: unknown
}

const BEGINNING: Loading = { cloud: null, error: null }

/** The nodes of whoever looks; begun again when that changes. */
export function useCloud(): Loading {
  const [loading, setLoading] = useStateOf<Loading>(requester.value, BEGINNING)
  useEffect(() => {
    const controller = new AbortController()
    const load = async (): Promise<void> => {
      for await (const cloud of cloudsOf(controller.signal)) {
        if (!controller.signal.aborted) setLoading(() => ({ cloud, error: null }))
      }
    }
    load().catch((error: unknown) => {
      if (!controller.signal.aborted) setLoading(({ cloud }) => ({ cloud, error }))
    })
    return () => controller.abort()
  }, [requester.value])
  return loading
}
