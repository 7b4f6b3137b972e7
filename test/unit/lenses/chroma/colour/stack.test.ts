import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../../../src/base/canonical.ts'
import { loadStack, STACK, writeStack } from '../../../../../src/lenses/chroma/colour/stack.ts'
import { StorageError } from '../../../../../src/lenses/chroma/errors.ts'
import { thrownBy } from './colour-world.ts'

const places = new Map(STACK.anchors.map(anchor => [`${anchor.L},${anchor.a},${anchor.b}`, anchor]))

describe('the semantic stack', () => {
  it('has the published hash (CQ-019, CQ-022)', () => {
    const text = STACK.anchors
      .map(({ id, zone, L, a, b, mass }) => `${id},${zone},${L},${a},${b},${mass.toFixed(2)}`)
      .join('\n')
    expect(text.split('\n')).toHaveLength(10_000)
    expect(text.startsWith('1,Core,54,-4,1,0.20\n2,')).toBe(true)
    expect(sha256(text)).toBe('565caa409393756a60451f4469777078e6f45f8894706946ed889ca44b2dc9e3')
  })

  it('has the points of the Halton sequence (CQ-019)', () => {
    // i = 1 is (1/2, 1/3, 1/5), i = 6 is (3/8, 2/9, 6/25).
    expect(places.has('50,-43,-77')).toBe(true)
    expect(places.has('38,-71,-67')).toBe(true)
  })

  it('has three zones by rank, and mass that grows outward in each (CQ-020)', () => {
    expect(STACK.anchors.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, at) => at + 1))
    for (const { zone, ends, mass } of [
      { zone: 'Core', ends: [1, 1000], mass: [0.2, 0.5] },
      { zone: 'Mid', ends: [1001, 7500], mass: [1.5, 2.5] },
      { zone: 'Outer', ends: [7501, 10_000], mass: [0.6, 1] },
    ]) {
      const anchors = STACK.anchors.filter(anchor => anchor.zone === zone)
      expect([anchors[0]?.id, anchors.at(-1)?.id]).toEqual(ends)
      expect([anchors[0]?.mass, anchors.at(-1)?.mass]).toEqual(mass)
      expect(anchors.every((anchor, at) => at === 0 || anchor.mass >= (anchors[at - 1]?.mass ?? 0))).toBe(true)
    }
  })

  it.each([
    [1, 'Core', 54, -4, 1, 0.2],
    [1000, 'Core', 71, -34, -36, 0.5],
    [1001, 'Mid', 25, -48, -1, 1.5],
    [4001, 'Mid', 40, -65, -69, 2.06],
    [7500, 'Mid', 26, 23, 123, 2.5],
    [7501, 'Outer', 63, 65, -109, 0.6],
    [10_000, 'Outer', 98, 126, -125, 1],
  ] as const)('has anchor %i where it was published (CQ-021)', (id, zone, L, a, b, mass) => {
    expect(STACK.anchor(id)).toEqual({ id, zone, L, a, b, mass })
  })

  it('rounds halves to even (CQ-021)', () => {
    // The four with L ending in exactly .5: 12.5, 62.5 (half up would give 13 and 63), 37.5 and 87.5.
    expect(['12,-15,76', '62,70,-118', '38,-71,-67', '88,14,-16'].map(place => places.has(place))).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['13,-15,76', '63,70,-118'].map(place => places.has(place))).toEqual([false, false])
  })

  it('cannot be changed, and has no other anchors (CQ-025)', () => {
    expect(() => Object.assign(STACK.anchor(1) ?? {}, { mass: 9 })).toThrow(TypeError)
    expect([0, -1, 1.5, 10_001, Number.NaN].map(id => STACK.anchor(id))).toEqual(Array(5).fill(undefined))
  })
})

interface File {
  version: unknown
  generated_at: unknown
  total_anchors: unknown
  anchors: Record<string, unknown>[]
}

function fresh(): File {
  return JSON.parse(writeStack([], 0)) as File
}

describe('the stack as a file', () => {
  it('is written with its hashtags, and read again (CQ-024)', () => {
    const text = writeStack([{ hashtag: '#python', anchor_id: 2 }], Date.UTC(2026, 0, 2))
    const file = JSON.parse(text) as File
    expect(Object.keys(file)).toEqual(['version', 'generated_at', 'total_anchors', 'anchors'])
    expect([file.generated_at, file.total_anchors]).toEqual(['2026-01-02T00:00:00.000Z', 10_000])
    expect(file.anchors[0]).toEqual({ id: 1, zone: 'Core', L: 54, a: -4, b: 1, mass: 0.2, hashtag: null })
    expect(file.anchors[1]).toMatchObject({ id: 2, hashtag: '#python' })
    const read = loadStack(text)
    expect(read).toMatchObject({ version: '1.0.0', generated_at: '2026-01-02T00:00:00.000Z' })
    expect(read.assignments).toEqual([{ hashtag: '#python', anchorId: 2 }])
  })

  it('may call the slot `tag` (CQ-024)', () => {
    const file = fresh()
    for (const anchor of file.anchors) {
      delete anchor['hashtag']
      anchor['tag'] = anchor['id'] === 7 ? 'Rust' : null
    }
    expect(loadStack(JSON.stringify(file)).assignments).toEqual([{ hashtag: '#rust', anchorId: 7 }])
  })

  const swap = (anchors: File['anchors'], one: number, other: number, ...fields: string[]) => {
    for (const field of fields) {
      const kept = anchors[one]?.[field]
      Object.assign(anchors[one] ?? {}, { [field]: anchors[other]?.[field] })
      Object.assign(anchors[other] ?? {}, { [field]: kept })
    }
  }
  const set = (file: File, at: number, fields: object) => Object.assign(file.anchors[at] ?? {}, fields)

  it.each<[string, (file: File) => unknown]>([
    ['total', file => file.anchors.pop()],
    ['total', file => Object.assign(file, { total_anchors: 9999 })],
    ['head', file => Object.assign(file, { anchors: {} })],
    ['head', file => Object.assign(file, { version: 1 })],
    ['head', file => Object.assign(file, { generated_at: null })],
    ['anchor', file => file.anchors.splice(3, 1, null as never)],
    ['zone', file => set(file, 5, { zone: 'core' })],
    ['sizes', file => set(file, 999, { zone: 'Mid' })],
    ['id', file => set(file, 9, { id: 11 })],
    ['id', file => swap(file.anchors, 3, 4, 'id')],
    ['color', file => set(file, 0, { L: 54.5 })],
    ['color', file => set(file, 0, { L: '54' })],
    ['color', file => set(file, 0, { L: 101 })],
    ['color', file => set(file, 0, { a: -129 })],
    ['color', file => set(file, 0, { b: 128 })],
    ['mass', file => set(file, 0, { mass: 0.204 })],
    ['mass', file => set(file, 0, { mass: null })],
    ['unique', file => set(file, 8, { L: 54, a: -4, b: 1 })],
    ['mass_ends', file => set(file, 500, { mass: 0.52 })],
    ['mass_ends', file => set(file, 7500, { mass: 0.58 })],
    ['hash', file => set(file, 500, { mass: 0.44 })],
    ['hash', file => swap(file.anchors, 100, 101, 'L', 'a', 'b')],
    ['hashtag', file => set(file, 1, { hashtag: 'two words' })],
    ['hashtag', file => set(file, 1, { hashtag: 5 })],
    ['hashtag', file => [1, 2].map(at => set(file, at, { hashtag: 'twice' }))],
  ])('is refused for a wrong %s (CQ-023), case %#', (_, spoil) => {
    const file = fresh()
    spoil(file)
    const error = thrownBy(() => loadStack(JSON.stringify(file)))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ name: 'StorageError', code: 'stack_invalid' })
  })

  it('is refused when it is no JSON, or no object (CQ-023)', () => {
    for (const text of ['', '{', '[]', 'null', '7']) {
      expect(thrownBy(() => loadStack(text))).toMatchObject({ code: 'stack_invalid' })
    }
  })
})
