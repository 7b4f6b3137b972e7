/**
 * What every index must do, whatever it is asked: say the same whether it replayed the feed, rebuilt or was restored; not
 * notice what it is not asked about; follow the store, and begin again when the feed no longer reaches back. A part of the
 * suite of each kind of index.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Bitset } from '../../src/base/bitset.ts'
import type { Steps } from '../../src/base/turns.ts'
import type { Index, SearchScope } from '../../src/index/contract.ts'
import { AUDIENCE_NAMES, type AudienceName, type IndexWorld } from '../support/index-world.ts'

interface CountedIndex extends Index {
  count(scope: SearchScope): unknown
}

export interface IndexSubject<Kind extends CountedIndex, World extends IndexWorld<Edit>, Edit, Question> {
  /** An empty one. */
  openWorld(): World
  /** An empty one, over the store of this world. */
  openIndex(world: World): Kind
  edits(maxLength?: number): fc.Arbitrary<Edit[]>
  questions(): fc.Arbitrary<Question[]>
  /** What an index says about a question. Entries are named now: others may come between them later. */
  requester(question: Question, world: World): (index: Kind) => unknown
  /** The same question about what is public or ann's, and all of that. */
  asAnn(question: Question): Question
  /** The same edit of what bob alone sees and no other edit touches. */
  asBob(edit: Edit): Edit
  put(id: 'a' | 'b' | 'c', of: AudienceName): Edit
  remove(id: 'a' | 'b' | 'c', of: AudienceName): Edit
  readonly prune: Edit
  /** Something that is found of whatever was `put`. */
  find(index: Kind, scope: SearchScope): readonly unknown[]
  /** Random histories for each property. */
  readonly runs: number
}

export function indexSuite<Kind extends CountedIndex, World extends IndexWorld<Edit>, Edit, Question>(
  subject: IndexSubject<Kind, World, Edit, Question>,
): void {
  const { put, remove, prune, runs } = subject
  const worldAfter = (history: readonly Edit[]) => {
    const world = subject.openWorld()
    world.apply(history)
    return world
  }
  const indexOf = (world: World) => {
    const index = subject.openIndex(world)
    index.refresh(world.store)
    return index
  }

  it('answers alike, to the last bit, after replaying the feed, after a rebuild and after being restored', () => {
    const histories = fc.array(subject.edits(10), { maxLength: 6 })
    fc.assert(
      fc.property(histories, subject.edits(8), subject.questions(), (steps, last, asked) => {
        const world = worldAfter([])
        const replayed = indexOf(world)
        for (const step of steps) {
          world.apply(step)
          replayed.refresh(world.store)
          // What it keeps of questions must not outlive what they were asked about.
          for (const question of asked) subject.requester(question, world)(replayed)
        }
        const restored = subject.openIndex(world)
        const unaligned = Buffer.concat([Buffer.from('x'), ...replayed.serialise()]).subarray(1)
        restored.restore(unaligned, replayed.position)
        expect(restored.position).toBe(replayed.position)
        world.apply(last)
        replayed.refresh(world.store)
        restored.refresh(world.store)
        const rebuilt = indexOf(world)
        for (const ask of asked.map(question => subject.requester(question, world))) {
          const expected = ask(rebuilt)
          expect(ask(replayed)).toEqual(expected)
          expect(ask(restored)).toEqual(expected)
        }
      }),
      { numRuns: runs },
    )
  })

  it('QE-019: built, restored and followed in steps, it answers as if in one piece, whatever is written and asked between them', () => {
    const edits = fc.array(subject.edits(4), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(subject.edits(10), edits, subject.questions(), (history, steps, asked) => {
        const world = worldAfter(history)
        const built = subject.openIndex(world)
        const restored = subject.openIndex(world)
        const image = Buffer.concat(indexOf(world).serialise())
        const position = world.store.lastSeq()
        const write = writer(world, steps, asked, subject)
        write(built.refreshInSteps?.(world.store), built)
        write(restored.restoreInSteps?.(image, position), restored)
        for (const index of [built, restored]) {
          write(index.refreshInSteps?.(world.store), index)
          write(index.rebuildInSteps?.(world.store), index)
          write(index.letGo?.(), index)
          index.refresh(world.store)
        }
        built.refresh(world.store)
        const rebuilt = indexOf(world)
        for (const ask of asked.map(question => subject.requester(question, world))) {
          const expected = ask(rebuilt)
          expect(ask(built)).toEqual(expected)
          expect(ask(restored)).toEqual(expected)
        }
      }),
      { numRuns: runs },
    )
  })

  it('does not notice edits in partitions that it is not asked about', () => {
    const hiddenSteps = fc.array(subject.edits(10), { maxLength: 3 })
    fc.assert(
      fc.property(subject.edits(), hiddenSteps, subject.questions(), (history, hidden, asked) => {
        const world = worldAfter(history)
        const index = indexOf(world)
        const asks = asked.map(question => subject.requester(subject.asAnn(question), world))
        const before = asks.map(ask => ask(index))
        for (const step of hidden) {
          world.apply(step.map(subject.asBob))
          index.refresh(world.store)
        }
        expect(asks.map(ask => ask(index))).toEqual(before)
      }),
      { numRuns: runs },
    )
  })

  it('rebuilds when the feed no longer reaches back to its position', () => {
    const world = worldAfter([put('a', 'ann')])
    const index = indexOf(world)
    world.apply([remove('a', 'ann'), put('b', 'ann'), prune, put('c', 'public')])
    index.refresh(world.store)
    expect(index.position).toBe(world.store.lastSeq())
    const everywhere = { partitions: world.partitionsOf(...AUDIENCE_NAMES) }
    expect(index.count(everywhere)).toEqual(indexOf(world).count(everywhere))
  })

  it('reports changes applied, and none the second time', () => {
    const world = worldAfter([put('a', 'ann')])
    const index = indexOf(world)
    const before = index.position
    world.apply([put('b', 'ann')])
    expect(index.refresh(world.store)).toBe(world.store.lastSeq() - before)
    expect(index.refresh(world.store)).toBe(0)
  })

  it('follows an entry that moves to another partition', () => {
    const world = worldAfter([put('a', 'ann')])
    const index = indexOf(world)
    const [before, after] = [{ partitions: world.partitionsOf('ann') }, { partitions: world.partitionsOf('public') }]
    const [some, none] = [index.count(before), index.count(after)]
    expect(some).not.toEqual(none)
    world.apply([put('a', 'public')])
    index.refresh(world.store)
    expect([index.count(before), index.count(after)]).toEqual([none, some])
  })

  it('finds nothing in no partitions, in unknown ones, or in an empty allowance', () => {
    const world = worldAfter([put('a', 'public')])
    const index = indexOf(world)
    const partitions = world.partitionsOf('public')
    expect(subject.find(index, { partitions })).not.toEqual([])
    for (const scope of [{ partitions: [] }, { partitions: [999] }, { partitions, allow: new Bitset() }]) {
      expect(subject.find(index, scope)).toEqual([])
      expect(index.count(scope)).toEqual(index.count({ partitions: world.partitionsOf('bob') }))
    }
  })

  it('counts a partition named twice once', () => {
    const world = worldAfter([put('a', 'public')])
    const index = indexOf(world)
    const [partition] = world.partitionsOf('public') as [number]
    const [once, twice] = [{ partitions: [partition] }, { partitions: [partition, partition] }]
    expect(index.count(twice)).toEqual(index.count(once))
    expect(subject.find(index, twice)).toEqual(subject.find(index, once))
  })
}

/** Runs steps, and between each two of them applies the next edits and asks. */
function writer<Kind extends CountedIndex, World extends IndexWorld<Edit>, Edit, Question>(
  world: World,
  edits: readonly (readonly Edit[])[],
  asked: readonly Question[],
  subject: IndexSubject<Kind, World, Edit, Question>,
): (steps: Steps<unknown> | undefined, index: Kind) => void {
  let next = 0
  return (steps, index) => {
    if (steps === undefined) return
    for (let step = steps.next(false); step.done !== true; step = steps.next(true)) {
      world.apply(edits[next++ % edits.length] as readonly Edit[])
      for (const question of asked) subject.requester(question, world)(index)
    }
  }
}
