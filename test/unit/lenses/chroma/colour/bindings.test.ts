import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Bindings } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { HashtagConflictError, UnknownHashtagError, ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import type { LensHost } from '../../../../../src/lenses/lens.ts'
import { openSqliteStore } from '../../../../../src/store/sqlite-store.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { addNode, assignIds, hostOf, NOW, thrownBy } from './colour-world.ts'

let host: LensHost
let bindings: Bindings
beforeEach(() => {
  host = hostOf()
  bindings = new Bindings(host)
})

describe('assigning', () => {
  it('takes the lowest free anchor of the zone (CQ-026)', () => {
    const python = { hashtag: '#python', anchor_id: 1, zone: 'Core', L: 54, a: -4, b: 1, mass: 0.2 }
    expect(bindings.assign('Python', { zone: 'core' })).toEqual(python)
    bindings.assign('x', { anchorId: 2 })
    expect(bindings.assign('y', { zone: 'CORE' })).toMatchObject({ anchor_id: 3, zone: 'Core' })
    expect(bindings.assign('z', { zone: 'mID' })).toMatchObject({ anchor_id: 1001, zone: 'Mid' })
    expect(bindings.assign('o', { zone: 'Outer' })).toMatchObject({ anchor_id: 7501, zone: 'Outer' })
    expect(bindings.resolve(' ##PYTHON ')).toEqual(python)
  })

  it('binds a chosen anchor, if it is free and there (CQ-027)', () => {
    expect(bindings.assign('a', { anchorId: 10_000 })).toMatchObject({ anchor_id: 10_000, zone: 'Outer', mass: 1 })
    const taken = thrownBy(() => bindings.assign('b', { anchorId: 10_000 }))
    expect(taken).toBeInstanceOf(HashtagConflictError)
    expect(taken).toMatchObject({ code: 'anchor_occupied', details: { anchor_id: 10_000, hashtag: '#a' } })
    for (const anchorId of [0, 10_001, -1, 1.5, Number.NaN, '7' as never, null as never]) {
      const error = thrownBy(() => bindings.assign('b', { anchorId }))
      expect(error).toBeInstanceOf(ValidationError)
      expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'anchor_id' } })
    }
    for (const target of [{ zone: 'Rim' }, { zone: '' }, { zone: 5 as never }, {}, { zone: 'Core', anchorId: 3 }]) {
      const error = thrownBy(() => bindings.assign('b', target))
      expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'zone' } })
    }
    // CQ-006
    for (const target of [{ zone: 'Core', anchor_id: 3 }, { anchor_id: 3 }]) {
      const error = thrownBy(() => bindings.assign('b', target))
      expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'anchor_id' } })
    }
    expect(bindings.list()).toHaveLength(1)
  })

  it('says when a zone is full (CQ-027)', () => {
    bindings.assignMany(Array.from({ length: 1000 }, (_, at) => ({ hashtag: `c${at}`, zone: 'Core' })))
    const error = thrownBy(() => bindings.assign('more', { zone: 'Core' }))
    expect(error).toMatchObject({ name: 'ValidationError', code: 'zone_full', details: { zone: 'Core' } })
    bindings.unassign('c500')
    expect(bindings.assign('more', { zone: 'Core' })).toMatchObject({ anchor_id: 501 })
  })

  it('again returns what there is; elsewhere is a conflict (CQ-028)', () => {
    const first = bindings.assign('a', { zone: 'Mid' })
    const version = host.store.version()
    expect(bindings.assign('A', { zone: 'mid' })).toEqual(first)
    expect(bindings.assign('a', { anchorId: 1001 })).toEqual(first)
    expect(host.store.version()).toBe(version)
    for (const target of [{ zone: 'Core' }, { anchorId: 1002 }, { anchorId: 5 }]) {
      const error = thrownBy(() => bindings.assign('a', target))
      expect(error).toBeInstanceOf(HashtagConflictError)
      expect(error).toMatchObject({
        code: 'hashtag_assigned',
        details: { hashtag: '#a', anchor_id: 1001, zone: 'Mid' },
      })
      expect(String(error)).toMatch(/migration/)
    }
  })

  it('of many is all or none, and tells the index (CQ-029)', () => {
    bindings.assign('held', { anchorId: 5 })
    const before = bindings.list()
    for (const [bad, code] of [
      [{ hashtag: 'b', anchorId: 5 }, 'anchor_occupied'],
      [{ hashtag: 'held', zone: 'Mid' }, 'hashtag_assigned'],
      [{ hashtag: 'b c', zone: 'Mid' }, 'invalid_parameter'],
      [{ hashtag: 'b', zone: 'Rim' }, 'invalid_parameter'],
      [null, 'invalid_parameter'],
    ] as const) {
      const error = thrownBy(() => bindings.assignMany([{ hashtag: 'a', zone: 'Mid' }, bad as never]))
      expect(error).toBeInstanceOf(ValidationError)
      expect(error).toMatchObject({ code, details: { index: 1 } })
      expect(String(error)).toMatch(/assignments\[1\]: /)
      expect(bindings.list()).toEqual(before)
      expect(new Bindings(host).list()).toEqual(before)
    }
    const made = bindings.assignMany([
      { hashtag: 'a', zone: 'Core' },
      { hashtag: 'A', zone: 'Core' },
      { hashtag: 'b', zone: 'Core' },
    ])
    expect(made.map(({ anchor_id }) => anchor_id)).toEqual([1, 1, 2])
    expect(bindings.assignMany([])).toEqual([])
    expect(thrownBy(() => bindings.assignMany({} as never))).toMatchObject({ code: 'invalid_parameter' })
  })
})

describe('unassigning', () => {
  it('frees the anchor, unless a node carries the tag (CQ-030)', () => {
    const tags = assignIds(bindings, [1, 1001, 1002, 1003, 1004, 1005, 1006, 7501])
    assignIds(bindings, [1007])
    addNode(host, 'n', tags, 'alice') // nobody's whom the caller may see
    const error = thrownBy(() => bindings.unassign('T1001'))
    expect(error).toBeInstanceOf(HashtagConflictError)
    expect(error).toMatchObject({ code: 'hashtag_in_use', details: { hashtag: '#t1001' } })
    expect(bindings.resolve('t1001')).not.toBeNull()
    // #t100 is part of #t1001, and still no tag of the node.
    bindings.assign('t100', { zone: 'Outer' })
    bindings.unassign('t100')
    expect(bindings.unassign('t1007')).toMatchObject({ hashtag: '#t1007', anchor_id: 1007 })
    expect(bindings.resolve('t1007')).toBeNull()
    expect(bindings.assign('new', { anchorId: 1007 })).toMatchObject({ anchor_id: 1007 })
    expect(new Bindings(host).list()).toEqual(bindings.list())
  })

  it('is not kept from it by a tag that is spelt like two', () => {
    const tags = assignIds(bindings, [1, 1001, 1002, 1003, 1004, 1005, 7501])
    bindings.assign('a","#b', { zone: 'Mid' })
    bindings.assign('b', { zone: 'Mid' })
    addNode(host, 'n', [...tags, 'a","#b'])
    expect(bindings.unassign('b')).toMatchObject({ hashtag: '#b' })
    expect(thrownBy(() => bindings.unassign('a","#b'))).toMatchObject({ code: 'hashtag_in_use' })
  })

  it('is possible again when the node is gone', () => {
    const tags = assignIds(bindings, [1, 1001, 1002, 1003, 1004, 1005, 1006, 7501])
    const key = addNode(host, 'n', tags)
    expect(thrownBy(() => bindings.unassign('t1'))).toMatchObject({ code: 'hashtag_in_use' })
    host.store.write(NOW, writer => writer.delete(key))
    expect(bindings.unassign('t1')).toMatchObject({ anchor_id: 1 })
  })

  it('of an unknown tag is UnknownHashtagError (CQ-030)', () => {
    const error = thrownBy(() => bindings.unassign('Nope'))
    expect(error).toBeInstanceOf(UnknownHashtagError)
    expect(error).toMatchObject({ details: { hashtags: ['#nope'] } })
  })
})

describe('a change of many steps', () => {
  it('takes anchors that it freed itself, and is written as a whole', () => {
    const anchors = bindings.change(draft => {
      const place = (hashtag: string) => draft.assign({ hashtag, target: { zone: 'Core' } })
      const first = place('#a')
      place('#b')
      draft.free(first)
      return [place('#c'), place('#d')].map(({ anchor_id }) => anchor_id)
    })
    expect(anchors).toEqual([1, 3])
    expect(new Bindings(host).list().map(({ hashtag }) => hashtag)).toEqual(['#c', '#b', '#d'])
  })
})

describe('looking up', () => {
  it('lists by ascending anchor, of one zone or of all (CQ-033)', () => {
    bindings.assign('z', { anchorId: 9 })
    bindings.assign('a', { anchorId: 7600 })
    bindings.assign('m', { anchorId: 3 })
    expect(bindings.list().map(({ hashtag }) => hashtag)).toEqual(['#m', '#z', '#a'])
    expect(bindings.list('core').map(({ anchor_id }) => anchor_id)).toEqual([3, 9])
    expect(bindings.list('Mid')).toEqual([])
    expect(thrownBy(() => bindings.list('rim'))).toMatchObject({ code: 'invalid_parameter' })
    expect(bindings.resolve('nope')).toBeNull()
    expect(thrownBy(() => bindings.resolve(7))).toMatchObject({ code: 'invalid_parameter' })
  })

  it('works both ways, one to one, whatever was assigned and freed (CQ-025)', () => {
    const step = fc.record({
      tag: fc.integer({ min: 0, max: 9 }).map(n => `#t${n}`),
      anchorId: fc.integer({ min: 996, max: 1005 }),
      act: fc.constantFrom('assign', 'unassign', 'reopen'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const store = hostOf()
        let real = new Bindings(store)
        const plain = new Map<string, number>()
        for (const { tag, anchorId, act } of steps) {
          if (act === 'reopen') real = new Bindings(store)
          if (act === 'assign') {
            const isFree = !plain.has(tag) && ![...plain.values()].includes(anchorId)
            if (isFree || plain.get(tag) === anchorId) {
              real.assign(tag, { anchorId })
              plain.set(tag, anchorId)
            } else expect(() => real.assign(tag, { anchorId })).toThrow(HashtagConflictError)
          }
          if (act === 'unassign' && plain.delete(tag)) real.unassign(tag)
          expect(new Map(real.list().map(one => [one.hashtag, one.anchor_id]))).toEqual(plain)
          for (const [hashtag, anchor_id] of plain) {
            expect(real.resolve(hashtag)).toMatchObject({ anchor_id })
            expect(real.current.at(anchor_id)).toMatchObject({ hashtag })
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('several processes on one store', () => {
  it('see each other, and a restart sees all (CQ-033)', () => {
    using folder = tempFolder()
    const file = folder.file('a.db')
    const stores = [openSqliteStore({ file }), openSqliteStore({ file })] as const
    const [one, other] = [new Bindings(hostOf(stores[0])), new Bindings(hostOf(stores[1]))]
    one.assign('a', { zone: 'Core' })
    expect(other.resolve('a')).toMatchObject({ anchor_id: 1 })
    expect(other.assign('b', { zone: 'Core' })).toMatchObject({ anchor_id: 2 })
    expect(one.assign('c', { zone: 'Core' })).toMatchObject({ anchor_id: 3 })
    one.unassign('a')
    expect(other.list()).toEqual(one.list())
    for (const store of stores) store.close()
    const again = openSqliteStore({ file })
    expect(new Bindings(hostOf(again)).list().map(({ hashtag }) => hashtag)).toEqual(['#b', '#c'])
    again.close()
  })

  it.each(['memory', 'sqlite'])('keep nothing of a transaction around them that was rolled back: %s (CQ-040)', kind => {
    using folder = tempFolder()
    const store = kind === 'sqlite' ? openSqliteStore({ file: folder.file('a.db') }) : hostOf().store
    const mine = new Bindings(hostOf(store))
    mine.assign('kept', { zone: 'Core' })
    const act = () =>
      store.write(NOW, () => {
        mine.assign('lost', { zone: 'Core' })
        expect(mine.resolve('lost')).not.toBeNull()
        throw new Error('later')
      })
    expect(act).toThrow('later')
    expect(mine.resolve('lost')).toBeNull()
    expect(mine.assign('next', { zone: 'Core' })).toMatchObject({ anchor_id: 2 })
    store.close()
  })

  it('give whoever holds the bindings of one moment the same throughout', () => {
    const { current } = bindings
    bindings.assign('a', { zone: 'Core' })
    expect([current.resolve('#a'), current.size]).toEqual([null, 0])
    expect(bindings.current.size).toBe(1)
  })
})
