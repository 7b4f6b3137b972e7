/**
 * A small store with points, for suites of point indexes. Coordinates come from few values, some of them outside of the
 * colour space and some at the borders of cells, so equal points and equal distances are common and ties get tested.
 */
import fc from 'fast-check'
import { Bitset } from '../../src/base/bitset.ts'
import type { PointSearch } from '../../src/index/contract.ts'
import type { TableDeclaration } from '../../src/model/table.ts'
import type { Store, StoreWriter } from '../../src/store/store.ts'
import { draftOf, wholeChunk } from './entries.ts'
import { AUDIENCE_NAMES, AUDIENCES, type AudienceName, deleteHeld, heldEntry, IndexWorld } from './index-world.ts'
import { type Ranking, rankings } from './point-rankings.ts'

export const POINTS: TableDeclaration = {
  name: 'places',
  ofEntry: true,
  key: ['entry'],
  columns: [
    { name: 'entry', type: 'integer' },
    { name: 'note', type: 'text', nullable: true },
    { name: 'x', type: 'real' },
    { name: 'y', type: 'real' },
    { name: 'z', type: 'real', nullable: true },
  ],
}
export const COLUMNS = ['x', 'y', 'z'] as const

type Point = readonly [number, number, number]

export interface PointEdit {
  /** `put` without a point leaves a row that has none; `bare` leaves no row; `touch` changes something else. */
  readonly do: 'put' | 'bare' | 'touch' | 'move' | 'delete' | 'prune'
  readonly id: string
  readonly audience: AudienceName
  readonly point?: Point | null
}

export interface PointQuestion {
  readonly point: Point
  readonly k: number
  readonly partitions: readonly AudienceName[]
  readonly maxDistance: number | null
  readonly ranking: Ranking | null
  /** Which entries to allow, or null for all; by the order of their keys. */
  readonly allow: readonly number[] | null
}

export function points(): fc.Arbitrary<Point> {
  const some = (...values: readonly number[]) =>
    fc.oneof(fc.constantFrom(...values), fc.double({ min: -140, max: 140, noNaN: true }))
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(some(0, 8, 50, 100), some(-128, -0.25, 0, 8, 127), some(-128, 0, 7.75, 127)) },
    { weight: 1, arbitrary: fc.constantFrom<Point>([50, 0, 0], [-40, 0, 0], [1e6, -300, 1e-300]) },
  )
}

export function pointEdits(maxLength = 60): fc.Arbitrary<PointEdit[]> {
  const edit = fc.record({
    do: fc.constantFrom<PointEdit['do'][]>('put', 'put', 'put', 'put', 'bare', 'touch', 'move', 'delete', 'prune'),
    id: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    audience: fc.constantFrom(...AUDIENCE_NAMES),
    point: fc.option(points(), { freq: 10 }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function pointQuestions(): fc.Arbitrary<PointQuestion[]> {
  const question = fc.record({
    point: points(),
    k: fc.oneof(fc.nat({ max: 12 }), fc.constantFrom(1000, Number.POSITIVE_INFINITY)),
    partitions: fc.subarray([...AUDIENCE_NAMES]),
    maxDistance: fc.option(fc.oneof(fc.constantFrom(0, 8, 50, 127), fc.double({ min: 0, max: 300, noNaN: true }))),
    ranking: fc.option(rankings()),
    allow: fc.option(fc.array(fc.nat({ max: 60 }), { maxLength: 30 })),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

export class PointWorld extends IndexWorld<PointEdit> {
  constructor(store: Store) {
    super(store, edit)
  }

  /** The ranking's scorer is to come from `scorerFor`: its bounds are those of one index. */
  request({ point, k, partitions, maxDistance, allow }: PointQuestion): Omit<PointSearch, 'scorer'> {
    return {
      point,
      k,
      partitions: this.partitionsOf(...partitions),
      maxDistance: maxDistance ?? undefined,
      allow: allow === null ? undefined : Bitset.of(allow.map(pick => this.entryAt(pick))),
    }
  }
}

function edit(writer: StoreWriter, change: PointEdit, now: number): void {
  switch (change.do) {
    case 'put':
    case 'bare':
      put(writer, change)
      break
    case 'touch':
    case 'move': {
      const entry = heldEntry(writer, change.id, change.audience)
      if (entry === undefined) break
      const audience = change.do === 'move' ? AUDIENCES[change.audience] : entry.audience
      writer.put({ ...entry, audience, title: `title ${now}` }, wholeChunk(entry))
      break
    }
    case 'delete':
      deleteHeld(writer, change.id, change.audience)
      break
    case 'prune':
      writer.pruneChanges(writer.lastSeq())
  }
}

function put(writer: StoreWriter, change: PointEdit): void {
  const draft = draftOf({ id: change.id, audience: AUDIENCES[change.audience] })
  const { key } = writer.put(draft, wholeChunk(draft))
  const points = writer.table(POINTS)
  points.delete({ entry: key })
  if (change.do === 'put') {
    const [x, y, z] = change.point ?? [1, 2, null]
    points.put({ entry: key, note: null, x, y, z })
  }
  writer.announce(key)
}
