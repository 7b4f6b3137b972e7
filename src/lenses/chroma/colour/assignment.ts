/** What callers may say of where a hashtag shall sit. */
import { invalidParameter } from '../errors.ts'
import { ZONES, type Zone } from '../model.ts'
import { isPlainObject } from '../plain.ts'
import { normaliseHashtag } from './hashtag.ts'
import { ANCHORS } from './stack.ts'

/** Exactly one of the two: any free anchor of a zone (in any letter case), or this anchor. */
export interface Target {
  readonly zone?: string | undefined
  readonly anchorId?: number | undefined
}

export interface Assignment extends Target {
  readonly hashtag: string
  /** Where it stands in a file, from 1; told in errors. */
  readonly line?: number | undefined
}

export type CheckedTarget = { readonly zone: Zone } | { readonly anchorId: number }

export interface CheckedAssignment {
  readonly hashtag: string
  readonly target: CheckedTarget
}

export function checkAssignment(given: unknown): CheckedAssignment {
  if (!isPlainObject(given)) throw invalidParameter('assignments', given, 'a hashtag and its place')
  const { hashtag, line: _, ...target } = given
  return { hashtag: normaliseHashtag(hashtag, 'hashtag'), target: checkTarget(target) }
}

export function checkTarget(given: unknown): CheckedTarget {
  if (!isPlainObject(given)) throw invalidParameter('zone', given, 'a zone, or else an anchor id')
  const unknown = Object.keys(given).find(name => name !== 'zone' && name !== 'anchorId')
  if (unknown !== undefined) throw invalidParameter(unknown, given[unknown], 'one of the options zone, anchorId')
  const { zone, anchorId } = given
  if (zone === undefined && anchorId === undefined) throw invalidParameter('zone', zone, 'a zone, or else an anchor id')
  if (zone !== undefined && anchorId !== undefined) {
    throw invalidParameter('zone', zone, 'nothing beside an anchor id: one of the two')
  }
  return anchorId === undefined ? { zone: zoneOf(zone) } : { anchorId: checkAnchorId(anchorId) }
}

/** In any letter case. */
export function zoneOf(given: unknown): Zone {
  const lower = typeof given === 'string' ? given.toLowerCase() : null
  const zone = ZONES.find(name => name.toLowerCase() === lower)
  if (zone === undefined) throw invalidParameter('zone', given, 'Core, Mid or Outer')
  return zone
}

function checkAnchorId(given: unknown): number {
  const isId = typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= ANCHORS
  if (!isId) throw invalidParameter('anchor_id', given, `a whole number from 1 to ${ANCHORS}`)
  return given
}
