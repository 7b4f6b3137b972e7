/** What the flags and words of `querent chroma …` come to, as input of an operation. */
import { invalidArgument } from '../../../model/errors.ts'
import { toInstant } from '../../../model/instant.ts'
import type { CommonFlags } from '../flags.ts'
import { type Input, parsed } from './input.ts'

export interface ChromaQueryFlags extends CommonFlags {
  readonly tags?: string
  readonly k?: number
  readonly maxDistance?: number
  readonly from?: string
  readonly to?: string
  readonly filter?: string
  readonly includeRotten?: true
  readonly weights?: string
  readonly profile?: string
  readonly access: boolean
  readonly complete: boolean
}

export interface NodeFlags extends CommonFlags {
  readonly tags?: string
  readonly label?: string
  readonly content?: string
  readonly metadata?: string
  readonly fields?: string
  readonly mode?: string
  readonly decay?: string
  readonly rotten?: true
  readonly visibility?: string
  readonly federation?: readonly string[]
}

/** Hashtags when they are named as such; else the words are a text. */
export function askedFor(words: readonly string[], { tags }: ChromaQueryFlags): Input | null {
  if (tags !== undefined) return { hashtags: [...words, ...tagsOf(tags)] }
  if (words.length === 0) return null
  return words.every(word => word.startsWith('#')) ? { hashtags: words } : { input: words.join(' ') }
}

export function queryOptions(flags: ChromaQueryFlags): Input {
  const { k, maxDistance, from, to, filter, includeRotten, weights, profile, access, complete } = flags
  return {
    ...(k !== undefined && { k }),
    ...(maxDistance !== undefined && { max_distance: maxDistance }),
    ...((from !== undefined || to !== undefined) && { temporal_range: rangeOf(from, to) }),
    ...(filter !== undefined && { metadata_filters: parsed(filter, '--filter') }),
    ...(includeRotten === true && { include_rotten: true }),
    ...(weights !== undefined && { score_weights: weightsOf(weights) }),
    ...(profile !== undefined && { profile }),
    ...(!access && { update_access: false }),
    ...(!complete && { complete_hashtags: false }),
  }
}

/** Unix seconds. Open ends: since ever, and up to as late as a calendar goes. */
function rangeOf(from: string | undefined, to: string | undefined): readonly [number, number] {
  return [from === undefined ? 0 : secondsOf(from, '--from'), to === undefined ? LAST : secondsOf(to, '--to')]
}

const LAST = 8.64e12

function secondsOf(text: string, field: string): number {
  return /^\d+$/.test(text) ? Number(text) : Math.floor(toInstant(text, field) / 1000)
}

function weightsOf(text: string): Input {
  const parts = text.split(',')
  const [relevance, recency, strength] = parts.map(Number)
  if (parts.length !== 3 || parts.some(part => part.trim() === '')) {
    throw invalidArgument('--weights', text, 'three numbers and commas')
  }
  return { relevance, recency, strength }
}

export function nodeFields({ label, metadata }: NodeFlags): Input {
  return {
    ...(label !== undefined && { label }),
    ...(metadata !== undefined && { metadata: parsed(metadata, '--metadata') }),
  }
}

export function onOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw invalidArgument('--decay', text, 'on or off')
  return text === 'on'
}

export function placeOf(place: string): Input {
  return /^\d+$/.test(place) ? { anchor_id: Number(place) } : { zone: place }
}

export function tagsOf(list: string): readonly string[] {
  return list.split(/[\s,]+/).filter(Boolean)
}
