/**
 * The semantic stack: 10,000 anchors (fixed points in colour space to which hashtags are bound), equal in every store and version. They are
 * computed on first use, which takes some 20 ms, and not shipped as data; a test compares their hash with the published one.
 */
import type { Instant } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import { type ChromaError, invalidParameter, StorageError } from '../errors.ts'
import type { Anchor, Binding, Zone } from '../model.ts'

export interface Stack {
  /** All anchors, in ascending order of id. */
  readonly anchors: readonly Anchor[]
  /** The anchor with this id; undefined unless `id` is a whole number from 1 to 10,000. */
  anchor(id: number): Anchor | undefined
}

export const ANCHORS = 10_000

/**
 * For each zone of the colour space: its first and last anchor id (both inclusive), and the mass at its inner and outer edge. An anchor is
 * a fixed colour position; its mass is its weight in the colour of a node.
 */
export const ZONE_BOUNDS: Readonly<
  Record<Zone, { readonly first: number; readonly last: number; readonly inner: number; readonly outer: number }>
> = {
  Core: { first: 1, last: 1000, inner: 0.2, outer: 0.5 },
  Mid: { first: 1001, last: 7500, inner: 1.5, outer: 2.5 },
  Outer: { first: 7501, last: ANCHORS, inner: 0.6, outer: 1 },
}

let made: readonly Anchor[] | undefined

export const STACK: Stack = {
  get anchors() {
    made ??= makeAnchors()
    return made
  },
  anchor: id => STACK.anchors[id - 1],
}

interface Point {
  readonly L: number
  readonly a: number
  readonly b: number
  /** Distance of the point from the centre of the colour space, (50, 0, 0). */
  readonly distance: number
}

/** Makes all anchors from points of a Halton sequence, ordered by distance from (50, 0, 0); no two points have the same distance. */
function makeAnchors(): readonly Anchor[] {
  const points = Array.from({ length: ANCHORS }, (_, at) => pointOf(at + 1))
  points.sort((one, other) => one.distance - other.distance)
  return (Object.keys(ZONE_BOUNDS) as Zone[]).flatMap(zone => {
    const { first, last } = ZONE_BOUNDS[zone]
    return anchorsOf(zone, points.slice(first - 1, last))
  })
}

function pointOf(index: number): Point {
  const L = radicalInverse(index, 2) * 100
  const a = radicalInverse(index, 3) * 255 - 128
  const b = radicalInverse(index, 5) * 255 - 128
  return { L, a, b, distance: Math.sqrt((L - 50) ** 2 + a ** 2 + b ** 2) }
}

/** The digits of `index` in the given base, mirrored at the radix point: 6 = 110₂ gives 0.011₂ = 0.375. */
function radicalInverse(index: number, base: number): number {
  let inverse = 0
  let place = 1
  for (let rest = index; rest > 0; rest = Math.floor(rest / base)) {
    place /= base
    inverse += place * (rest % base)
  }
  return inverse
}

/**
 * The anchors (fixed colour positions) of one zone. An anchor's mass, its weight in the colour of a node, changes linearly from the zone's
 * first to its last point with distance from the centre. Coordinates are rounded only in this function.
 */
function anchorsOf(zone: Zone, points: readonly Point[]): readonly Anchor[] {
  const { first, inner, outer } = ZONE_BOUNDS[zone]
  const [nearest = 0, farthest = 0] = [points[0]?.distance, points.at(-1)?.distance]
  return points.map(({ L, a, b, distance }, at) => {
    const share = (distance - nearest) / (farthest - nearest)
    const mass = Number((inner + (outer - inner) * share).toFixed(2))
    return Object.freeze({ id: first + at, zone, L: halfToEven(L), a: halfToEven(a), b: halfToEven(b), mass })
  })
}

/**
 * Rounds halves to the even neighbour: 0.5 gives 0, 1.5 and 2.5 give 2. Rounding halves up would change four anchor coordinates, and so the
 * published hash of the stack.
 */
function halfToEven(value: number): number {
  const below = Math.floor(value)
  const isHalf = value - below === 0.5
  const rounded = isHalf ? below + Math.abs(below % 2) : Math.round(value)
  return rounded + 0 // Adding 0 turns negative zero into zero.
}

export interface StackFile {
  readonly version: string
  /** Time when the stack file was written, in ISO 8601. */
  readonly generated_at: string
  /** Hashtags in the stack file with their anchor ids, in ascending order of anchor; the form that `assignMany` takes. */
  readonly assignments: readonly { readonly hashtag: string; readonly anchorId: number }[]
}

const VERSION = '1.0.0'

/** Writes the whole semantic stack as JSON for other tools, one anchor per line, with the hashtag bound to each. */
export function writeStack(bindings: readonly Pick<Binding, 'hashtag' | 'anchor_id'>[], now: Instant): string {
  const hashtags = new Map(bindings.map(({ anchor_id, hashtag }) => [anchor_id, hashtag]))
  const lines = STACK.anchors.map(anchor => JSON.stringify({ ...anchor, hashtag: hashtags.get(anchor.id) ?? null }))
  const head = { version: VERSION, generated_at: new Date(now).toISOString(), total_anchors: ANCHORS }
  return `${JSON.stringify(head).slice(0, -1)},"anchors":[\n${lines.join(',\n')}\n]}\n`
}

/**
 * Reads the hashtags of a stack file, which another program may have written. There is only one stack, so each anchor of the file must
 * equal the built-in anchor of that id (CQ-023). Throws `stack_invalid`, with details.anchor_id where a single anchor is wrong.
 */
export function loadStack(json: string): StackFile {
  const file = parsed(json)
  if (!isRecord(file)) throw invalid('expected an object with version, generated_at, total_anchors and anchors')
  const { version, generated_at, total_anchors, anchors: rows } = file
  if (typeof version !== 'string') throw invalid('version: expected text')
  if (typeof generated_at !== 'string') throw invalid('generated_at: expected text')
  if (!Array.isArray(rows) || total_anchors !== ANCHORS || rows.length !== ANCHORS)
    throw invalid(`anchors: expected a list of ${ANCHORS}, and total_anchors ${ANCHORS}`)
  const seen = new Set<string>()
  const assignments = STACK.anchors.flatMap((anchor, at) => {
    const hashtag = hashtagOf(anchor, rows[at])
    if (hashtag === null) return []
    if (seen.has(hashtag)) throw invalid(`${hashtag} sits on two anchors`, anchor.id)
    seen.add(hashtag)
    return [{ hashtag, anchorId: anchor.id }]
  })
  return { version, generated_at, assignments }
}

/**
 * The hashtag in an anchor's row of a stack file; null where the anchor is free. The row's field may be called `tag` or `hashtag`; null or
 * a missing field means free.
 */
function hashtagOf(anchor: Anchor, row: unknown): string | null {
  if (!isRecord(row)) throw invalid('expected an object', anchor.id)
  for (const [name, expected] of Object.entries(anchor))
    if (row[name] !== expected) throw invalid(`${name}: expected ${expected}, got ${String(row[name])}`, anchor.id)
  const given = row['hashtag'] ?? row['tag'] ?? null
  try {
    return given === null ? null : normaliseHashtag(given)
  } catch (error) {
    throw invalid((error as ChromaError).message, anchor.id, error)
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw invalid('the file is not JSON', undefined, error)
  }
}

function invalid(problem: string, anchorId?: number, cause?: unknown): StorageError {
  const place = anchorId === undefined ? 'stack' : `stack, anchor ${anchorId}`
  const details = anchorId === undefined ? {} : { anchor_id: anchorId }
  return new StorageError('stack_invalid', `${place}: ${problem}`, details, cause, {
    help: 'Use an unchanged stack file.',
  })
}

// Brings hashtags into a normal form, so that all spellings of one hashtag are equal, and finds hashtags in texts.

/**
 * Type of a look-up function: it returns the anchor (colour position) binding of a hashtag given in its normal form; null when the hashtag
 * is not assigned.
 */
export type Resolve = (hashtag: string) => Binding | null

/** Largest number of Unicode characters in a hashtag, without the `#`. */
export const MAX_HASHTAG_LENGTH = 100

const LEADING_HASHES = /^#+/
/** Pattern of the part of a hashtag after the `#`: no white space, control characters or halves of a surrogate pair. */
const BODY = /^[^\s\p{Cc}\p{Cs}]+$/u

const EXPECTED = `hashtags of 1 to ${MAX_HASHTAG_LENGTH} characters without white space and control characters`

/** Converts a hashtag to its normal form: ` ##Typing ` gives `#typing`. Normalising the result again changes nothing. */
export function normaliseHashtag(value: unknown, parameter = 'hashtags'): string {
  if (typeof value !== 'string') throw invalidParameter(parameter, value, EXPECTED)
  const body = hashtagBody(foldHashtag(value.trim()))
  if (body === null) throw invalidParameter(parameter, value, EXPECTED)
  return `#${body}`
}

/** A text in lower case and in Unicode composed form (NFC), as hashtags are compared. */
export function foldHashtag(text: string): string {
  // The text is composed (NFC) before lower-casing, so that a letter and its accent change case together, and again after it, since
  // lower-casing can decompose letters.
  return text.normalize('NFC').toLowerCase().normalize('NFC')
}

/** The part of a hashtag after the `#`; null when it is no valid hashtag. `folded`: the text in lower case and composed form. */
export function hashtagBody(folded: string): string | null {
  const body = folded.replace(LEADING_HASHES, '')
  return isShort(body) && BODY.test(body) ? body : null
}

/**
 * Whether a hashtag's text has at most 100 characters. A character is one or two UTF-16 units, so characters are counted only where the
 * number of units does not decide.
 */
function isShort(body: string): boolean {
  if (body.length <= MAX_HASHTAG_LENGTH) return true
  return body.length <= 2 * MAX_HASHTAG_LENGTH && [...body].length <= MAX_HASHTAG_LENGTH
}

/**
 * Assigned hashtags that a text names, in order of first appearance, without duplicates. For `Python, (C++) and "3.12".`: #python, #c++ and
 * #3.12, where these are assigned. `resolve` is called with hashtags in their normal form.
 */
export function tagsInText(text: unknown, resolve: Resolve): string[] {
  if (typeof text !== 'string') throw invalidParameter('content', text, 'text')
  const found = new Set<string>()
  for (const [token] of foldHashtag(text).matchAll(/\S+/gu)) {
    const hashtag = tagOfToken(token, resolve)
    if (hashtag !== null) found.add(hashtag)
  }
  return [...found]
}

/**
 * The assigned hashtag that a word of a text names; null when there is none. The word is tried with and without its surrounding
 * punctuation, in the order that `readings` gives.
 */
export function tagOfToken(token: string, resolve: Resolve): string | null {
  for (const reading of readings(token)) {
    const body = hashtagBody(reading)
    const binding = body === null ? null : resolve(`#${body}`)
    if (binding !== null) return binding.hashtag
  }
  return null
}

/**
 * The forms in which a word of a text is tried as a hashtag: unchanged, then with leading punctuation removed sign by sign, then also with
 * trailing punctuation removed.
 */
function* readings(token: string): Iterable<string> {
  const { length } = token
  const start = punctuationBefore(token)
  const end = start < length ? length - punctuationAfter(token) : length
  for (let from = Math.max(0, length - LONGEST); from <= start; from++) yield token.slice(from)
  for (let to = Math.min(length - 1, start + LONGEST); to >= end; to--) yield token.slice(start, to)
  if (start > MAX_SIGNS || length - end > MAX_SIGNS) return
  // Last, the combinations not tried above: leading signs are kept while trailing signs are removed, so that `.net,` is also tried as
  // `.net`.
  for (let from = 0; from < start; from++) {
    for (let to = length - 1; to >= end; to--) yield token.slice(from, to)
  }
}

/** Longest text, in UTF-16 units, that can be a hashtag: twice the length limit in characters, and one unit for the `#`. */
const LONGEST = 2 * MAX_HASHTAG_LENGTH + 1
/**
 * Largest number of punctuation signs at either end of a word for which all combinations are tried; without a limit, a row of dots would
 * take quadratic time.
 */
const MAX_SIGNS = 8

/**
 * A sign that is removed from the ends of words before they are tried as hashtags: punctuation, and ASCII signs of markup. `+` and `$` are
 * not removed, since they belong to names (`c++`).
 */
const PUNCTUATION = /^[\p{P}`´<>|=~^]$/u

function punctuationBefore(token: string): number {
  let count = 0
  while (count < token.length && PUNCTUATION.test(token.charAt(count))) count++
  return count
}

function punctuationAfter(token: string): number {
  let count = 0
  while (count < token.length && PUNCTUATION.test(token.charAt(token.length - 1 - count))) count++
  return count
}
