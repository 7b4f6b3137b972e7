/** What words and flags of `querent chroma …` put into the input of an operation. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { toInstant } from '../../../model/instant.ts'
import type { Flags } from '../operation-command.ts'
import { parsed } from './input.ts'

/** Hashtags where they are named as such, else the words are a text; nothing for none of both. */
export function subjectOf(words: string, { tags }: Flags): JsonObject {
  const named = tagsOf(words)
  if (tags !== undefined) return { hashtags: [...named, ...tagsOf(String(tags))] }
  if (named.length === 0) return {}
  return named.every(word => word.startsWith('#')) ? { hashtags: named } : { input: words }
}

export function queryOptions({ k, from, to, filter, weights, access, complete }: Flags): JsonObject {
  return {
    ...(k !== undefined && { k: k as Json }),
    ...((from !== undefined || to !== undefined) && { temporal_range: rangeOf(from as Text, to as Text) }),
    ...(filter !== undefined && { metadata_filters: parsed(String(filter), '--filter') as Json }),
    ...(weights !== undefined && { score_weights: weightsOf(String(weights)) }),
    ...(access === false && { update_access: false }),
    ...(complete === false && { complete_hashtags: false }),
  }
}

type Text = string | undefined

/** Unix seconds. Open ends: since ever, and up to as late as a calendar goes. */
function rangeOf(from: Text, to: Text): readonly [number, number] {
  return [from === undefined ? 0 : secondsOf(from, '--from'), to === undefined ? LAST : secondsOf(to, '--to')]
}

const LAST = 8.64e12

function secondsOf(text: string, field: string): number {
  return /^\d+$/.test(text) ? Number(text) : Math.floor(toInstant(text, field) / 1000)
}

function weightsOf(text: string): JsonObject {
  const parts = text.split(',')
  const [relevance, recency, strength] = parts.map(Number)
  if (parts.length !== 3 || parts.some(part => part.trim() === '')) {
    throw invalidArgument('--weights', text, 'three numbers and commas')
  }
  return { relevance, recency, strength } as JsonObject
}

export function onOff(text: unknown): boolean {
  if (text !== 'on' && text !== 'off') throw invalidArgument('--decay', String(text), 'on or off')
  return text === 'on'
}

export function placeOf(place: string): JsonObject {
  return /^\d+$/.test(place) ? { anchor_id: Number(place) } : { zone: place }
}

export function tagsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter(Boolean)
}

/** At a command line, what changed nothing has failed. */
export function mustHaveChanged(changed: boolean, { entry_id: id }: JsonObject): void {
  if (changed) return
  const message = `entry_id: there is no node ${JSON.stringify(id)} of yours that this could change`
  throw new QuerentError('not_found', message, { entry_id: String(id) })
}
