/** The word index on sizes and states that random small histories do not reach. */
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { Bitset } from '../../../src/base/bitset.ts'
import type { WordIndex, WordTerm } from '../../../src/index/contract.ts'
import { openReferenceWordIndex } from '../../../src/index/reference-words.ts'
import { openWordIndex } from '../../../src/index/words.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { seededUniform } from '../../../src/testing/seeded.ts'
import { textOf, type WordEdit, WordWorld } from '../../../src/testing/word-world.ts'

const VOCABULARY = [
  'alder',
  'birch',
  'cedar',
  'dogwood',
  'elm',
  'fir',
  'gum',
  'holly',
  'ivory',
  'juniper',
  'kapok',
  'larch',
]
const AUDIENCES = ['public', 'ann', 'bob', 'lab'] as const

/** Entries whose words fall off steeply, so that some lists have dozens of blocks and some a single posting. */
function forest(entries: number, seed = 3): WordEdit[] {
  const uniform = seededUniform(seed)
  const word = () => {
    const rank = Math.floor(400 * uniform() ** 4)
    return rank < VOCABULARY.length ? VOCABULARY[rank] : `tree${rank}`
  }
  const words = (count: number) => Array.from({ length: count }, word).join(' ')
  return Array.from({ length: entries }, (_, at) =>
    textOf(`e${at}`, words(1 + Math.floor(uniform() * 40)), {
      title: uniform() < 0.3 ? words(2) : '',
      audience: AUDIENCES[Math.floor(uniform() * 4)] ?? 'public',
      chunk: 60,
      overlap: 15,
    }),
  )
}

function terms(...texts: readonly string[]): WordTerm[] {
  return texts.map(text => ({ text, boost: 1 }))
}

const QUESTIONS = [
  terms('alder'),
  terms('alder', 'birch', 'cedar'),
  terms('tree399', 'alder'),
  terms('tree250', 'tree31', 'holly', 'larch', 'kapok', 'alder', 'elm', 'fir'),
  [...terms('alder', 'tree100'), { text: 'juniper', boost: 3 }],
]

function answers(index: WordIndex, world: WordWorld): unknown {
  const scopes = [
    { partitions: world.partitionsOf(...AUDIENCES) },
    { partitions: world.partitionsOf('ann', 'lab') },
    { partitions: world.partitionsOf('bob') },
    { partitions: world.partitionsOf(...AUDIENCES), allow: Bitset.of([5, 60, 61, 300, 900, 901, 902]) },
    { partitions: world.partitionsOf('public'), allow: Bitset.of(Array.from({ length: 500 }, (_, at) => at * 2)) },
  ]
  const values = Float32Array.from({ length: 700 }, (_, key) => ((key * 37) % 101) / 50)
  const some = Array.from({ length: 60 }, (_, at) => at * 17)
  return scopes.map(scope => [
    ...QUESTIONS.map(asked => [
      ...[1, 10, 100].map(k => index.search({ ...scope, terms: asked, k })),
      index.search({ ...scope, terms: asked, k: 20, prior: { weight: 0.4, values } }),
      index.score(asked, some, scope),
      index.weigh(asked, scope),
    ]),
    [...index.entriesWith('alder birch', scope)],
    [...index.entriesWith('alder alder alder', scope)],
    index.count(scope),
    index.complete('tree3', scope, 12),
  ])
}

describe('lists of many blocks', () => {
  it('answers as brute force does: built, replayed in steps, with dead rows, merged, restored', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(1200)
    world.apply(edits.slice(0, 900))
    const built = openWordIndex()
    built.refresh(world.store)
    const reference = openReferenceWordIndex()
    reference.refresh(world.store)
    expect(answers(built, world)).toEqual(answers(reference, world))

    // Deaths in the big segment, births in small ones; asking in between fills what is remembered of both.
    for (let at = 0; at < 300; at += 50) {
      world.apply(edits.slice(900 + at, 950 + at))
      world.apply(edits.slice(at * 2, at * 2 + 30).map(edit => ({ ...edit, do: 'delete' })))
      built.refresh(world.store)
      built.search({ terms: terms('alder', 'birch'), k: 3, partitions: world.partitionsOf('ann') })
    }
    reference.refresh(world.store)
    const expected = answers(reference, world)
    expect(answers(built, world)).toEqual(expected)
    const restored = openWordIndex()
    restored.restore(Buffer.concat(built.serialise()), built.position)
    expect(answers(restored, world)).toEqual(expected)
    expect(answers(built, world)).toEqual(expected)
  })
})

describe('gaps', () => {
  it('answers as brute force does after the dead were taken out again and again, restored and merged', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(1100, 11)
    world.apply(edits.slice(0, 900))
    let index = openWordIndex()
    index.refresh(world.store)
    for (let round = 0; round < 6; round++) {
      // Every seventh, and a run of neighbours: blocks that lose one, many and all of their rows.
      const gone = edits.slice(0, 900).filter((_, at) => at % 7 === round || Math.floor(at / 40) === round * 3)
      world.apply(gone.map(edit => ({ ...edit, do: 'delete' })))
      world.apply(edits.slice(900 + round * 30, 930 + round * 30))
      index.refresh(world.store)
      const image = Buffer.concat(index.serialise())
      const reference = openReferenceWordIndex()
      reference.refresh(world.store)
      const expected = answers(reference, world)
      expect(answers(index, world)).toEqual(expected)
      if (round % 2 === 0) continue
      const restored = openWordIndex()
      restored.restore(image, index.position)
      expect(answers(restored, world)).toEqual(expected)
      index = restored
    }
  })

  it.each([0, 126, 127, 128, 255, 256, 299])('takes the one row %i out of a list of three blocks', at => {
    const world = new WordWorld(openMemoryStore())
    world.apply(Array.from({ length: 300 }, (_, n) => textOf(`e${n}`, 'common')))
    const index = openWordIndex()
    index.refresh(world.store)
    world.apply([textOf(`e${at}`, '', { do: 'delete' })])
    index.refresh(world.store)
    const restored = openWordIndex()
    restored.restore(Buffer.concat(index.serialise()), index.position)
    const scope = { partitions: world.partitionsOf('public') }
    for (const one of [index, restored]) {
      expect(one.weigh(terms('common'), scope)).toMatchObject([{ df: 299 }])
      expect(one.search({ ...scope, terms: terms('common'), k: 300 })).toHaveLength(299)
    }
  })

  it('leaves neither a word nor a key of what is gone, and all of the rest as it was', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(500, 12).map((edit, at) =>
      at % 5 === 0 ? { ...edit, content: `${edit.content} only${at}x` } : edit,
    )
    world.apply(edits)
    const index = openWordIndex()
    index.refresh(world.store)
    const before = Buffer.concat(index.serialise())
    expect(before.includes('only55x')).toBe(true)
    world.apply(edits.filter((_, at) => at % 50 === 5).map(edit => ({ ...edit, do: 'delete' })))
    index.refresh(world.store)
    const after = Buffer.concat(index.serialise())
    for (let at = 0; at < 500; at += 5) expect(after.includes(`only${at}x`), `only${at}x`).toBe(at % 50 !== 5)
    expect(after.length).toBeLessThan(before.length)
  })
})

describe('against FTS5', () => {
  it('finds the entries with a word or phrase that SQLite finds', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(400, 9).map(edit => ({ ...edit, title: '', audience: 'public' })))
    const index = openWordIndex()
    index.refresh(world.store)
    const database = new DatabaseSync(':memory:')
    database.exec("create virtual table texts using fts5(content, tokenize = 'unicode61')")
    const insert = database.prepare('insert into texts(rowid, content) values (cast(? as integer), ?)')
    for (const key of world.store.scanEntries(0, 1e6)) insert.run(key, world.store.entry(key)?.content ?? '')
    const match = database.prepare('select rowid from texts where texts match ? order by rowid')
    const scope = { partitions: world.partitionsOf('public') }
    let found = 0
    for (const phrase of [
      'alder',
      'tree57',
      'nobody',
      'alder birch',
      'birch alder alder',
      'cedar elm fir',
      'tree31 alder',
    ]) {
      const expected = match.all(`"${phrase}"`).map(row => row['rowid'])
      expect([...index.entriesWith(phrase, scope)], phrase).toEqual(expected)
      found += expected.length
    }
    database.close()
    expect(found).toBeGreaterThan(100)
  })
})

describe('what a snapshot may be', () => {
  const world = new WordWorld(openMemoryStore())
  world.apply(forest(50))
  const index = openWordIndex()
  index.refresh(world.store)
  const image = Buffer.concat(index.serialise())

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.from('not an image at all, whatever it says')],
    ['cut short', image.subarray(0, image.length - 8)],
    ['too long', Buffer.concat([image, Buffer.alloc(8)])],
    ['of another format', Buffer.from(image.toString('latin1').replace('"format":1', '"format":7'), 'latin1')],
    ['of other text rules', Buffer.from(image.toString('latin1').replace(/"rules":\d/, '"rules":9'), 'latin1')],
    [
      'a header of other shape',
      Buffer.from(image.toString('latin1').replace('"segments":[[', '"segments":[{'), 'latin1'),
    ],
  ])('refuses %s, and stays as it was', (_, bytes) => {
    const other = openWordIndex()
    other.refresh(world.store)
    const refusal = expect.objectContaining({ name: 'QuerentError', code: 'invalid_argument' })
    expect(() => other.restore(bytes, 1)).toThrow(refusal)
    expect(answers(other, world)).toEqual(answers(index, world))
    expect(other.position).toBe(index.position)
  })

  it('is empty for an empty index', () => {
    const empty = openWordIndex()
    const other = openWordIndex()
    other.restore(Buffer.concat(empty.serialise()), 0)
    expect(other.count({ partitions: [1] })).toBe(0)
  })

  it('holds no word of a deleted entry', () => {
    const here = new WordWorld(openMemoryStore())
    here.apply([textOf('a', 'unmentionable'), textOf('b', 'other')])
    const words = openWordIndex()
    words.refresh(here.store)
    here.apply([textOf('a', '', { do: 'delete' })])
    words.refresh(here.store)
    const saved = Buffer.concat(words.serialise()).toString('latin1')
    expect(saved).toContain('other')
    expect(saved).not.toContain('unmention')
  })
})

describe('work', () => {
  it('reads no entry again because it got vectors', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply([textOf('a', 'one two')])
    const index = openWordIndex()
    index.refresh(world.store)
    const vectors = world.store
      .chunksOf(world.key('a'))
      .map(chunk => ({ chunk: chunk.key, vector: Float32Array.of(1) }))
    world.store.write(5000, writer => writer.putVectors('any@1', vectors))
    const refused = () => {
      throw new Error('read again')
    }
    const reader = Object.create(world.store, { entry: { value: refused }, chunksOf: { value: refused } })
    for (const name of ['lastSeq', 'firstSeq', 'changesSince'] as const) {
      reader[name] = world.store[name].bind(world.store)
    }
    expect(index.refresh(reader)).toBe(1)
    expect(index.position).toBe(world.store.lastSeq())
  })

  it('reads the store from nothing, not a feed that may be much longer', () => {
    const world = new WordWorld(openMemoryStore())
    world.apply(forest(30, 8))
    const index = openWordIndex()
    const { store } = world
    const feedless = Object.assign(Object.create(store), {
      changesSince: () => expect.unreachable('the feed was read'),
    })
    index.refresh(feedless)
    expect(index.position).toBe(store.lastSeq())
    expect(index.count({ partitions: world.partitionsOf(...AUDIENCES) })).toBeGreaterThan(30)
  })

  it('keeps few segments however many single writes come', () => {
    const world = new WordWorld(openMemoryStore())
    const index = openWordIndex()
    for (const edit of forest(300, 5)) {
      world.apply([edit])
      index.refresh(world.store)
    }
    const segments = JSON.parse(/\{.*?\]\]\}/.exec(Buffer.concat(index.serialise()).toString('latin1'))?.[0] ?? '')
    expect(segments.segments.length).toBeLessThanOrEqual(15)
    expect(index.count({ partitions: world.partitionsOf(...AUDIENCES) })).toBeGreaterThan(300)
  })

  it('takes less than 700 bytes a chunk for chunks of about 130 words', () => {
    const world = new WordWorld(openMemoryStore())
    const edits = forest(300, 6).map((edit, at, all) => {
      const content = [at, at + 1, at + 2, at + 3, at + 4, at + 5].map(next => all[next % 300]?.content).join(' ')
      return textOf(edit.id, content)
    })
    world.apply(edits)
    const index = openWordIndex()
    index.rebuild(world.store)
    expect(index.byteLength / 300).toBeLessThan(700)
  })
})
