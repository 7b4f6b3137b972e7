import { describe, expect, it } from 'vitest'
import { STACK } from '../../../../../src/lenses/chroma/colour/stack.ts'
import { loadStack, writeStack } from '../../../../../src/lenses/chroma/colour/stack-file.ts'
import { StorageError } from '../../../../../src/lenses/chroma/errors.ts'
import { thrownBy } from './colour-world.ts'

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
    expect(read.anchors).toEqual(STACK.anchors)
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
  ])('is refused for %s (CQ-023), case %#', (check, spoil) => {
    const file = fresh()
    spoil(file)
    const error = thrownBy(() => loadStack(JSON.stringify(file)))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ name: 'StorageError', code: 'stack_invalid', details: { check } })
  })

  it('is refused when it is no JSON, or no object (CQ-023)', () => {
    for (const text of ['', '{', '[]', 'null', '7']) {
      expect(thrownBy(() => loadStack(text))).toMatchObject({ code: 'stack_invalid' })
    }
  })
})
