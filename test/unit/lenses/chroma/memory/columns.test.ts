import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PointScorer } from '../../../../../src/index/contract.ts'
import { openReferencePoints } from '../../../../../src/index/reference-points.ts'
import { MemoryColumns } from '../../../../../src/lenses/chroma/memory/columns.ts'
import { recencyOf, relevanceOf, scoreOf, strengthNorm } from '../../../../../src/lenses/chroma/memory/formulas.ts'
import { readMemories } from '../../../../../src/lenses/chroma/memory/memory-rows.ts'
import { MODES, weightsOf } from '../../../../../src/lenses/chroma/memory/modes.ts'
import { lastUse, tellUses, usesSince } from '../../../../../src/lenses/chroma/memory/uses.ts'
import type { ModeName, ScoreWeights } from '../../../../../src/lenses/chroma/model.ts'
import { MEMORY, NODES, USES } from '../../../../../src/lenses/chroma/tables.ts'
import type { EntryKey } from '../../../../../src/model/entry.ts'
import { QuerentError } from '../../../../../src/model/errors.ts'
import { OWNER } from '../../../../../src/model/partition.ts'
import { openMemoryStore } from '../../../../../src/store/memory-store.ts'
import { DAY, MODES_BY_TURN, START, World } from './world.ts'

function scorer(world: World, weights: ScoreWeights | null = null, now = world.now, memoryEnabled = true): PointScorer {
  world.points.refresh(world.store)
  return world.columns().scorer({ weights, now, points: world.points, memoryEnabled })
}

/** With some methods replaced. */
function storeOf<T extends object>(real: T, own: Partial<T>): T {
  return new Proxy(real, {
    get: (_, key) => {
      const value = Reflect.get(key in own ? own : real, key)
      return typeof value === 'function' ? value.bind(real) : value
    },
  })
}

describe('the columns', () => {
  it('follow nodes that come, change, and go, and memories that change', () => {
    const world = new World()
    const a = world.node('a')
    const columns = world.columns()
    expect(columns.memory(a)).toEqual({
      last_accessed: START,
      strength_raw: 0,
      ascension: false,
      rotten: false,
      decay_enabled: true,
      mode_name: 'Adaptive',
      used: false,
    })
    const b = world.node('b', { mode: 'Eidetic', strength_raw: 3, decay_enabled: false })
    expect(world.columns().memory(b)).toMatchObject({ strength_raw: 3, mode_name: 'Eidetic', decay_enabled: false })
    world.node('a', { mode: 'Sparse' })
    expect(world.columns().memory(a)?.mode_name).toBe('Sparse')
    world.delete(b)
    expect(world.columns().has(b)).toBe(false)
    expect([columns.size, columns.next(-1), columns.next(a)]).toEqual([1, a, -1])
  })

  it.each([NODES.name, MEMORY.name])('know nothing of what they could not read (%s), and read it later', name => {
    const world = new World()
    const a = world.node('a', { strength_raw: 3, mode: 'Eidetic' })
    let fails = true
    const store = storeOf(world.store, {
      read: body =>
        world.store.read(reader =>
          body(
            storeOf(reader, {
              table: declaration => {
                if (fails && declaration.name === name) throw new QuerentError('io_failed', 'store.db: disk I/O error')
                return reader.table(declaration)
              },
            }),
          ),
        ),
    })
    const columns = new MemoryColumns(store, OWNER)
    expect(() => columns.refresh()).toThrow(expect.objectContaining({ code: 'io_failed' }))
    fails = false
    columns.refresh()
    expect(columns.memory(a)).toMatchObject({ strength_raw: 3, mode_name: 'Eidetic', used: true })
  })

  it('of every process are the same after any history', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('node'), id: fc.nat(5), mode: fc.constantFrom(...MODES_BY_TURN) }),
      fc.record({ do: fc.constantFrom('use', 'delete', 'look'), id: fc.nat(5), mode: fc.constant('Sparse') }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const one = new World()
        const two = new World({ store: one.store })
        for (const [at, { do: what, id, mode }] of steps.entries()) {
          const world = at % 2 === 0 ? one : two
          world.later(1000)
          const key = one.store.find(String(id), one.context.host.sight({ id: OWNER }).partitions)[0]
          if (what === 'node')
            world.node(String(id), { mode, created_at: START, ...(at % 3 === 0 && { rotten: true }) })
          else if (what === 'look') world.columns().stored(one.store, key === undefined ? [] : [key])
          else if (key !== undefined && what === 'use') world.record([key], START + at * 1000)
          else if (key !== undefined) world.delete(key)
        }
        const fresh = new MemoryColumns(one.store, OWNER)
        fresh.refresh()
        const keys = one.store.scanEntries(-1, 100)
        const memories = readMemories(one.store, OWNER, keys)
        for (const columns of [one.columns(), two.columns()]) {
          expect(contents(columns)).toEqual(contents(fresh))
          expect(columns.stored(one.store, keys)).toEqual(memories)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('say which nodes are not rotten, when some are', () => {
    const world = new World()
    const [a, b] = [world.node('a'), world.node('b')]
    expect(world.columns().allow).toBeNull()
    world.node('b', { rotten: true })
    expect([...(world.columns().allow ?? [])]).toEqual([a])
    world.record([b])
    expect(world.columns().allow).toBeNull()
    world.node('b', { rotten: true })
    world.delete(b)
    expect(world.columns().allow).toBeNull()
  })

  it('are read again when the log of uses or the feed does not reach back', () => {
    const world = new World()
    const a = world.node('a')
    const late = new MemoryColumns(world.store, OWNER)
    late.refresh()
    for (let i = 0; i < 4200; i++) world.record([a])
    expect(contents(late)).not.toEqual(contents(world.columns()))
    late.refresh()
    expect(contents(late)).toEqual(contents(world.columns()))
    world.node('b')
    world.node('c')
    world.store.write(START, writer => writer.pruneChanges(writer.lastSeq()))
    late.refresh()
    expect(late.size).toBe(3)
    world.store.write(START, writer => {
      tellUses(writer, OWNER, null)
    })
    late.refresh()
    expect(contents(late)).toEqual(contents(world.columns()))
  })
})

function contents(columns: MemoryColumns): readonly unknown[] {
  const all: unknown[] = []
  for (let entry = columns.next(-1); entry !== -1; entry = columns.next(entry)) all.push([entry, columns.memory(entry)])
  return [...all, columns.allow === null ? null : [...columns.allow]]
}

describe('the log of uses', () => {
  it('numbers without gaps, keeps the newest, and tells what is missing', () => {
    const store = openMemoryStore()
    store.write(0, writer => {
      expect([lastUse(writer, 'fox'), usesSince(writer, 'fox', 0)]).toEqual([0, { entries: [], last: 0 }])
      for (let i = 1; i <= 4200; i++) expect(tellUses(writer, 'fox', [i], i - 1)).toBe(i)
      expect(lastUse(writer, 'fox')).toBe(4200)
      expect(tellUses(writer, 'fox', [7, 8])).toBe(4201)
      expect(usesSince(writer, 'fox', 4199)).toEqual({ entries: [4200, 7, 8], last: 4201 })
      expect(usesSince(writer, 'fox', 4201)).toEqual({ entries: [], last: 4201 })
      expect(usesSince(writer, 'fox', 2)).toEqual({ entries: null, last: 4201 })
      expect(usesSince(writer, 'fox', 0)).toEqual({ entries: null, last: 4201 })
      expect(writer.table(USES).count()).toBe(4137)
      expect(usesSince(writer, 'dog', 0)).toEqual({ entries: [], last: 0 })
      tellUses(writer, 'fox', null)
      expect(usesSince(writer, 'fox', 4200)).toEqual({ entries: null, last: 4202 })
    })
  })
})

interface Drawn {
  readonly mode: ModeName
  readonly age: number
  readonly strength: number
  readonly point: readonly [number, number, number]
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  mode: fc.constantFrom(...MODES_BY_TURN),
  age: fc.oneof(fc.integer({ min: -DAY, max: 30 * DAY }), fc.constantFrom(0, 400 * DAY, 20_000 * DAY)),
  strength: fc.oneof(fc.double({ min: 0, max: 50, noNaN: true }), fc.constantFrom(0, 1e-300, 1e300)),
  point: fc.tuple(fc.integer({ min: 40, max: 60 }), fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })),
})
const weighting: fc.Arbitrary<ScoreWeights | null> = fc.option(
  fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([first, rest]) => ({ relevance: first, recency: (1 - first) * rest, strength: (1 - first) * (1 - rest) })),
)

function filled(nodes: readonly Drawn[]): { world: World; keys: readonly EntryKey[] } {
  const world = new World()
  const keys = nodes.map(({ mode, age, strength, point }, at) =>
    world.node(String(at), { mode, last_accessed: START - age, created_at: 0, strength_raw: strength, point }),
  )
  return { world, keys }
}

/** No member of any block scores above the block's limit at its own distance or nearer. */
function expectBounded(
  world: World,
  keys: readonly EntryKey[],
  ranks: PointScorer,
  distances: readonly number[],
): void {
  for (const key of keys) {
    const block = world.points.blockOf(key)
    for (const distance of distances) {
      const score = ranks.score(key, distance)
      for (const nearer of [distance, distance / 2, 0]) {
        const bound = ranks.bound(block, nearer)
        expect(bound).toBeGreaterThanOrEqual(score)
        expect(ranks.limit?.(nearer)).toBeGreaterThanOrEqual(bound)
      }
    }
  }
}

describe('the scorer', () => {
  it('gives each node the score of its own mode, of the weights given, or relevance alone (CQ-053, CQ-054)', () => {
    const world = new World()
    const a = world.node('a', { mode: 'Sparse', strength_raw: 2, last_accessed: START - DAY, created_at: 0 })
    const b = world.node('b', { mode: 'Eidetic', strength_raw: 5, last_accessed: START - DAY, created_at: 0 })
    const expected = (mode: ModeName, strength: number, weights = weightsOf(MODES[mode])) =>
      scoreOf(weights, {
        relevance: relevanceOf(7),
        recency: recencyOf(MODES[mode], START - DAY, START),
        strength_norm: strengthNorm(strength),
      })
    const own = scorer(world)
    expect([own.score(a, 7), own.score(b, 7)]).toEqual([expected('Sparse', 2), expected('Eidetic', 5)])
    const weights = { relevance: 0.2, recency: 0.5, strength: 0.3 }
    expect(scorer(world, weights).score(b, 7)).toBe(expected('Eidetic', 5, weights))
    expect(scorer(world, { relevance: 1, recency: 0, strength: 0 }).score(b, 7)).toBe(relevanceOf(7))
    expect(scorer(world, weights, START, false).score(b, 7)).toBe(relevanceOf(7))
  })

  it('bounds every block, through uses, moves, new nodes and decay', () => {
    const use = fc.record({ at: fc.nat(), after: fc.nat(3 * DAY) })
    fc.assert(
      fc.property(
        fc.array(drawn, { minLength: 1, maxLength: 25 }),
        fc.array(drawn, { maxLength: 5 }),
        fc.array(use, { maxLength: 6 }),
        weighting,
        fc.double({ min: 0, max: 300, noNaN: true }),
        (nodes, more, uses, weights, distance) => {
          const { world, keys } = filled(nodes)
          const distances = [0, distance, distance * 100]
          expectBounded(world, keys, scorer(world, weights), distances)
          for (const { at, after } of uses) world.record([keys[at % keys.length] as number], world.later(after))
          expectBounded(world, keys, scorer(world, weights), distances)
          // One is moved, some are new, one changes its mode.
          world.node('0', { ...nodes[0], point: [90, 90, 90], strength_raw: 40 })
          const fresh = more.map((node, at) =>
            world.node(`new ${at}`, { mode: node.mode, point: node.point, strength_raw: node.strength }),
          )
          expectBounded(world, [...keys, ...fresh], scorer(world, weights), distances)
          world.points.rebuild(world.store)
          expectBounded(world, [...keys, ...fresh], scorer(world, weights), distances)
          expectBounded(world, keys, scorer(world, weights, START, false), distances)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('finds through the index what scoring all of them finds', () => {
    fc.assert(
      fc.property(
        fc.array(drawn, { minLength: 1, maxLength: 60 }),
        weighting,
        fc.integer({ min: 1, max: 9 }),
        (nodes, weights, k) => {
          const { world } = filled(nodes)
          const ranks = scorer(world, weights)
          const reference = openReferencePoints({ name: 'plain', table: NODES, columns: ['l', 'a', 'b'] })
          reference.rebuild(world.store)
          const { partitions } = world.context.host.sight({ id: OWNER })
          const search = { partitions, point: [50, 0, 0], k, scorer: ranks } as const
          expect(world.points.search(search)).toEqual(reference.search(search))
        },
      ),
      { numRuns: 60 },
    )
  })
})
