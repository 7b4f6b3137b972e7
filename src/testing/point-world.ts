/**
 * A small store with points, for suites of point indexes. Coordinates come from few values, some of them outside of the
 * colour space and some at the borders of cells, so equal points and equal distances are common and ties get tested.
 */
import fc from 'fast-check'
import { Bitset } from '../base/bitset.ts'
import type { PointIndex, PointScorer, PointSearch } from '../index/contract.ts'
import type { EntryKey } from '../model/entry.ts'
import { type Audience, audience, type PartitionId, partitionKey } from '../model/partition.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { draftOf, wholeChunk } from './entries.ts'
import { seededUniform } from './seeded.ts'

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

const AUDIENCES = {
  public: audience('public', 'ann'),
  ann: audience('private', 'ann'),
  bob: audience('private', 'bob'),
  lab: audience('shared', 'ann', ['lab']),
} as const satisfies Record<string, Audience>

export type AudienceName = keyof typeof AUDIENCES
type Point = readonly [number, number, number]

export interface PointEdit {
  /** `put` without a point leaves a row that has none; `bare` leaves no row; `touch` changes something else. */
  readonly do: 'put' | 'bare' | 'touch' | 'move' | 'delete' | 'prune'
  readonly id: string
  readonly audience: AudienceName
  readonly point?: Point | null
}

/** How a question ranks: by a curve over the distance, and a number of each entry's own. */
export interface Ranking {
  readonly curve: 'fall' | 'line' | 'steps' | 'flat'
  readonly weight: number
  /** How many different numbers entries have of their own; 0: infinitely many. */
  readonly levels: number
  readonly seed: number
  readonly hasLimit: boolean
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

const CURVES: Readonly<Record<Ranking['curve'], (distance: number) => number>> = {
  fall: distance => Math.exp(-distance / 20),
  line: distance => 1 - distance / 500,
  steps: distance => -Math.floor(distance / 15),
  flat: () => 0.5,
}

export function points(): fc.Arbitrary<Point> {
  const some = (...values: readonly number[]) =>
    fc.oneof(fc.constantFrom(...values), fc.double({ min: -140, max: 140, noNaN: true }))
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(some(0, 8, 50, 100), some(-128, -0.25, 0, 8, 127), some(-128, 0, 7.75, 127)) },
    { weight: 1, arbitrary: fc.constantFrom<Point>([50, 0, 0], [-40, 0, 0], [1e6, -300, 1e-300]) },
  )
}

export function rankings(): fc.Arbitrary<Ranking> {
  return fc.record({
    curve: fc.constantFrom<Ranking['curve'][]>('fall', 'line', 'steps', 'flat'),
    weight: fc.constantFrom(1, 0.5, 0),
    levels: fc.constantFrom(0, 1, 3),
    seed: fc.nat({ max: 1000 }),
    hasLimit: fc.boolean(),
  })
}

export function pointEdits(maxLength = 60): fc.Arbitrary<PointEdit[]> {
  const edit = fc.record({
    do: fc.constantFrom<PointEdit['do'][]>('put', 'put', 'put', 'put', 'bare', 'touch', 'move', 'delete', 'prune'),
    id: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    audience: fc.constantFrom(...(Object.keys(AUDIENCES) as AudienceName[])),
    point: fc.option(points(), { freq: 10 }),
  })
  return fc.array(edit, { maxLength, size: 'max' })
}

export function pointQuestions(): fc.Arbitrary<PointQuestion[]> {
  const question = fc.record({
    point: points(),
    k: fc.oneof(fc.nat({ max: 12 }), fc.constantFrom(1000, Number.POSITIVE_INFINITY)),
    partitions: fc.subarray(Object.keys(AUDIENCES) as AudienceName[]),
    maxDistance: fc.option(fc.oneof(fc.constantFrom(0, 8, 50, 127), fc.double({ min: 0, max: 300, noNaN: true }))),
    ranking: fc.option(rankings()),
    allow: fc.option(fc.array(fc.nat({ max: 60 }), { maxLength: 30 })),
  })
  return fc.array(question, { minLength: 1, maxLength: 4 })
}

export class PointWorld {
  readonly store: Store
  #now = 1000

  constructor(store: Store) {
    this.store = store
    store.write(0, writer => Object.values(AUDIENCES).map(one => writer.intern(one)))
  }

  apply(history: readonly PointEdit[]): void {
    for (const edit of history) this.store.write(this.#now++, writer => this.#edit(writer, edit))
  }

  partitionsOf(...names: readonly AudienceName[]): PartitionId[] {
    const keys = new Set(names.map(name => partitionKey(AUDIENCES[name])))
    return this.store.partitions().flatMap(({ id, audience: of }) => (keys.has(partitionKey(of)) ? [id] : []))
  }

  /** The store's n-th entry; beyond the last, a key that nothing has. */
  entryAt(n: number): EntryKey {
    return this.store.scanEntries(0, 1000)[n] ?? n + 1000
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

  #edit(writer: StoreWriter, edit: PointEdit): void {
    const of = AUDIENCES[edit.audience]
    const found = () => {
      const keys = writer.find(
        edit.id,
        writer.partitions().map(({ id }) => id),
      )
      return writer.entries(keys).find(entry => entry.audience.holder === of.holder)
    }
    switch (edit.do) {
      case 'put':
      case 'bare': {
        const draft = draftOf({ id: edit.id, audience: of })
        const { key } = writer.put(draft, wholeChunk(draft))
        writer.table(POINTS).delete({ entry: key })
        if (edit.do === 'put') {
          const [x, y, z] = edit.point ?? [1, 2, null]
          writer.table(POINTS).put({ entry: key, note: null, x, y, z })
        }
        writer.announce(key)
        break
      }
      case 'touch':
      case 'move': {
        const entry = found()
        const audience = edit.do === 'move' ? of : (entry?.audience ?? of)
        if (entry) writer.put({ ...entry, audience, title: `title ${this.#now}` }, wholeChunk(entry))
        break
      }
      case 'delete': {
        const entry = found()
        if (entry) writer.delete(entry.key)
        break
      }
      case 'prune':
        writer.pruneChanges(writer.lastSeq())
    }
  }
}

/** What an entry is worth by itself under a ranking: 0 to 1. */
function ownWorth({ levels, seed }: Ranking, entry: EntryKey): number {
  const number = seededUniform(seed * 7919 + entry)()
  return levels === 0 ? number : Math.floor(number * levels) / levels
}

/** The largest worth in each block, kept as a consumer would: made of all entries, then raised by what arrives. */
export class BlockWorth {
  readonly #index: PointIndex
  readonly #ranking: Ranking
  readonly #partitions: readonly PartitionId[]
  #worth: number[] = []
  #generation = -1
  #read = 0

  constructor(index: PointIndex, ranking: Ranking, partitions: readonly PartitionId[]) {
    this.#index = index
    this.#ranking = ranking
    this.#partitions = partitions
  }

  refresh(): void {
    const { generation, arrivals } = this.#index
    if (generation !== this.#generation) {
      this.#worth = []
      for (const entry of this.#index.entries(this.#partitions)) this.#raise(entry)
      this.#generation = generation
    } else {
      for (const entry of arrivals.slice(this.#read)) this.#raise(entry)
    }
    this.#read = arrivals.length
  }

  scorer(): PointScorer {
    const ranking = this.#ranking
    const curve = CURVES[ranking.curve]
    const worth = this.#worth
    const most = worth.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
    const scored = (own: number, distance: number) => ranking.weight * curve(distance) + own
    return {
      score: (entry, distance) => scored(ownWorth(ranking, entry), distance),
      bound: (block, distance) => scored(worth[block] ?? Number.NEGATIVE_INFINITY, distance),
      limit: ranking.hasLimit ? distance => scored(most, distance) : undefined,
    } as PointScorer
  }

  #raise(entry: EntryKey): void {
    const block = this.#index.blockOf(entry)
    if (block < 0) return
    this.#worth[block] = Math.max(this.#worth[block] ?? Number.NEGATIVE_INFINITY, ownWorth(this.#ranking, entry))
  }
}

/** A scorer with bounds made for this index as it is now. */
export function scorerFor(index: PointIndex, ranking: Ranking | null, world: PointWorld): PointScorer | undefined {
  if (ranking === null) return undefined
  const worth = new BlockWorth(
    index,
    ranking,
    world.store.partitions().map(({ id }) => id),
  )
  worth.refresh()
  return worth.scorer()
}
