/** The stack as a file: for other tools, and to take over the hashtags of a file written elsewhere. */
import type { Instant } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import { type ChromaError, StorageError } from '../errors.ts'
import { type Anchor, type Binding, ZONES, type Zone } from '../model.ts'
import { normaliseHashtag } from './hashtag.ts'
import { ANCHORS, hashOfStack, STACK, STACK_HASH, ZONE_BOUNDS } from './stack.ts'

export interface StackFile {
  readonly version: string
  /** ISO 8601. */
  readonly generated_at: string
  readonly anchors: readonly Anchor[]
  /** What stood in the tag slots, by ascending anchor: ready for `assignMany`. */
  readonly assignments: readonly { readonly hashtag: string; readonly anchorId: number }[]
}

const VERSION = '1.0.0'

/** The whole stack with what is bound to it, one anchor a line. */
export function writeStack(bindings: readonly Pick<Binding, 'hashtag' | 'anchor_id'>[], now: Instant): string {
  const hashtags = new Map(bindings.map(({ anchor_id, hashtag }) => [anchor_id, hashtag]))
  const lines = STACK.anchors.map(anchor => JSON.stringify({ ...anchor, hashtag: hashtags.get(anchor.id) ?? null }))
  const head = { version: VERSION, generated_at: new Date(now).toISOString(), total_anchors: ANCHORS }
  return `${JSON.stringify(head).slice(0, -1)},"anchors":[\n${lines.join(',\n')}\n]}\n`
}

/** Checks everything before anything is returned. Throws `stack_invalid`: details.check, and details.anchor_id where known. */
export function loadStack(json: string): StackFile {
  const { version, generated_at, anchors: rows } = checkHead(parse(json))
  checkSizes(rows)
  const anchors = rows.map((row, at) => checkAnchor(row, at + 1))
  checkPlaces(anchors)
  checkMasses(anchors)
  if (hashOfStack(anchors) !== STACK_HASH) throw invalid('hash', 'the anchors are not those of the one stack')
  return { version, generated_at, anchors: STACK.anchors, assignments: checkHashtags(rows) }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw invalid('json', 'the file is not JSON', undefined, error)
  }
}

type Fields = Readonly<Record<string, unknown>>

interface Head {
  readonly version: string
  readonly generated_at: string
  readonly anchors: readonly Fields[]
}

function checkHead(file: unknown): Head {
  if (!isRecord(file)) throw invalid('head', 'expected an object with version, generated_at, total_anchors and anchors')
  const { version, generated_at, total_anchors, anchors } = file
  if (typeof version !== 'string') throw invalid('head', 'version: expected text')
  if (typeof generated_at !== 'string') throw invalid('head', 'generated_at: expected text')
  if (!Array.isArray(anchors)) throw invalid('head', 'anchors: expected a list')
  if (total_anchors !== ANCHORS || anchors.length !== ANCHORS) {
    throw invalid(
      'total',
      `expected ${ANCHORS} anchors, got ${anchors.length} (total_anchors ${String(total_anchors)})`,
    )
  }
  for (const [at, row] of anchors.entries()) if (!isRecord(row)) throw invalid('anchor', 'expected an object', at + 1)
  return { version, generated_at, anchors }
}

function checkSizes(rows: readonly Fields[]): void {
  for (const zone of ZONES) {
    const expected = ZONE_BOUNDS[zone].last - ZONE_BOUNDS[zone].first + 1
    const got = rows.filter(row => row['zone'] === zone).length
    const other = rows.findIndex(row => !ZONES.includes(row['zone'] as Zone))
    if (other >= 0) throw invalid('zone', `zone: expected Core, Mid or Outer`, other + 1)
    if (got !== expected) throw invalid('sizes', `expected ${expected} anchors in ${zone}, got ${got}`)
  }
}

const RANGES = { L: [0, 100], a: [-128, 127], b: [-128, 127] } as const

function checkAnchor({ id, zone, mass, ...row }: Fields, expectedId: number): Anchor {
  if (id !== expectedId) throw invalid('id', `id: expected ${expectedId}, got ${String(id)}`, expectedId)
  const [L, a, b] = (['L', 'a', 'b'] as const).map(name => {
    const [least, most] = RANGES[name]
    const value = row[name]
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw invalid('color', `${name}: expected a whole number from ${least} to ${most}`, expectedId)
  }) as [number, number, number]
  if (typeof mass !== 'number' || mass !== Number(mass.toFixed(2))) {
    throw invalid('mass', 'mass: expected a number with two decimals', expectedId)
  }
  return { id: expectedId, zone: zone as Zone, L, a, b, mass }
}

function checkPlaces(anchors: readonly Anchor[]): void {
  const seen = new Set<string>()
  for (const { id, L, a, b } of anchors) {
    const place = `${L},${a},${b}`
    if (seen.has(place)) throw invalid('unique', `two anchors have the colour ${place}`, id)
    seen.add(place)
  }
}

function checkMasses(anchors: readonly Anchor[]): void {
  for (const zone of ZONES) {
    const masses = anchors.filter(anchor => anchor.zone === zone).map(({ mass }) => mass)
    const { inner, outer } = ZONE_BOUNDS[zone]
    const [least, most] = [Math.min(...masses), Math.max(...masses)]
    // Two decimals: a hundredth away is still allowed, and is not exact in binary.
    if (Math.abs(least - inner) < 0.0101 && Math.abs(most - outer) < 0.0101) continue
    throw invalid('mass_ends', `masses of ${zone}: expected ${inner} to ${outer}, got ${least} to ${most}`)
  }
}

/** The slot may be called `tag` or `hashtag`; null and absent are free. */
function checkHashtags(rows: readonly Fields[]): StackFile['assignments'] {
  const seen = new Set<string>()
  return rows.flatMap((row, at) => {
    const anchorId = at + 1
    const given = row['hashtag'] ?? row['tag'] ?? null
    if (given === null) return []
    const hashtag = spell(given, anchorId)
    if (seen.has(hashtag)) throw invalid('hashtag', `${hashtag} sits on two anchors`, anchorId)
    seen.add(hashtag)
    return [{ hashtag, anchorId }]
  })
}

function spell(given: unknown, anchorId: number): string {
  try {
    return normaliseHashtag(given)
  } catch (error) {
    throw invalid('hashtag', (error as ChromaError).message, anchorId, error)
  }
}

function invalid(check: string, problem: string, anchorId?: number, cause?: unknown): StorageError {
  const place = anchorId === undefined ? 'stack' : `stack, anchor ${anchorId}`
  const details = anchorId === undefined ? { check } : { check, anchor_id: anchorId }
  return new StorageError('stack_invalid', `${place}: ${problem}`, details, cause, {
    help: 'Use an unchanged stack file.',
  })
}
