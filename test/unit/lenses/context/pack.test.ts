import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PackItem, pack } from '../../../../src/lenses/context/query/pack.ts'
import { countTokens } from '../../../../src/text/count-tokens.ts'

/** Words and signs, roughly: not additive over pieces, as no tokenizer is. */
const words = (text: string) => text.split(/\s+/).filter(Boolean).length

function item(id: number, lines: number, signature: string | null = `function f${id}(a: number)`): PackItem {
  const text = Array.from({ length: lines }, (_, line) => `line ${line} of ${id}`).join('\n')
  return { id, name: `f${id}`, type: 'Function', place: `file:///f${id}.ts:1-${lines}`, text, signature }
}

describe('packing', () => {
  it('tells everything where there is room, and no notice', () => {
    const packed = pack([item(1, 2), item(2, 1)], 1000, words)
    expect(packed).toMatchObject({ whole: [1, 2], signatures: [], names: [], omitted: [] })
    expect(packed.text).toBe(
      '## 1 f1 (Function) file:///f1.ts:1-2\nline 0 of 1\nline 1 of 1\n## 2 f2 (Function) file:///f2.ts:1-1\nline 0 of 2',
    )
  })

  it('gives whole texts first, then signatures, then names, and says what is left out', () => {
    const items = [item(1, 3), item(2, 50), item(3, 50, null), ...Array.from({ length: 12 }, (_, i) => item(i + 4, 50))]
    const packed = pack(items, 60, words)
    expect(packed).toMatchObject({
      whole: [1],
      signatures: [2, 4, 5, 6, 7],
      names: [3],
      omitted: [8, 9, 10, 11, 12, 13, 14, 15],
    })
    expect(packed.text.split('\n').slice(-2)).toEqual([
      '- 7 function f7(a: number) file:///f7.ts:1-50',
      '(8 left out; ask with a larger max_tokens)',
    ])
  })

  it('needs no more room than all of it takes: no notice where nothing is left out', () => {
    const items = [item(1, 3), item(2, 4), item(3, 2)]
    const all = pack(items, 1000, words)
    expect(pack(items, all.tokens, words)).toEqual(all)
    const less = pack(items, all.tokens - 1, words)
    expect([less.whole, less.omitted]).toEqual([[1, 2], []])
  })

  it('shows what is part of a text before it as a line', () => {
    const lines = (start: number, end: number) => ({ url: 'file:///a.ts', start, end })
    const whole = { ...item(1, 4), text: 'class A {\nget() {\n}\n}', lines: lines(1, 4) }
    const method = { ...item(2, 2), text: 'get() {\n}', lines: lines(2, 3) }
    const elsewhere = { ...item(3, 2), text: 'get() {\n}', lines: { ...lines(2, 3), url: 'file:///b.ts' } }
    const packed = pack([whole, method, elsewhere], 1000, words)
    expect(packed).toMatchObject({ whole: [1, 2, 3], omitted: [] })
    expect(packed.text.split('\n').filter(line => /^(?:-|##)/.test(line))).toEqual([
      '## 1 f1 (Function) file:///f1.ts:1-4',
      '- 2 f2 (Function) file:///f2.ts:1-2',
      '## 3 f3 (Function) file:///f3.ts:1-2',
    ])
  })

  it('keeps a name to its line', () => {
    const odd = { ...item(1, 1), name: 'a\nb', text: null }
    expect(pack([{ ...odd, signature: null }], 100, words).text).toBe('- 1 a b (Function)')
  })

  it('is empty where nothing fits', () => {
    expect(pack([item(1, 1)], 0, words)).toEqual({
      ...{ text: '', tokens: 0, whole: [], signatures: [], names: [], omitted: [1] },
    })
    expect(pack([], 0, words)).toMatchObject({ text: '', omitted: [] })
  })

  it('never goes over, never cuts a line, tells of every item once, in rank order, and the same again', () => {
    const items = fc
      .array(fc.record({ lines: fc.integer({ min: 0, max: 40 }), signed: fc.boolean() }), { maxLength: 50 })
      .map(list => list.map(({ lines, signed }, at) => item(at + 1, lines, signed ? undefined : null)))
    fc.assert(
      fc.property(
        items,
        fc.integer({ min: 0, max: 2000 }),
        fc.constantFrom(words, countTokens),
        (list, most, count) => {
          const packed = pack(list, most, count)
          expect(count(packed.text)).toBe(packed.tokens)
          expect(packed.tokens).toBeLessThanOrEqual(most)
          const told = [...packed.whole, ...packed.signatures, ...packed.names, ...packed.omitted]
          expect(told.sort((a, b) => a - b)).toEqual(list.map(({ id }) => id))
          for (const ids of [packed.whole, packed.signatures, packed.names, packed.omitted]) {
            expect(ids).toEqual(ids.toSorted((a, b) => a - b))
          }
          for (const id of packed.whole) expect(packed.text).toContain((list[id - 1]?.text ?? '').replace(/\n+$/, ''))
          expect(pack(list, most, count)).toEqual(packed)
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('counting tokens', () => {
  it('counts as the chunker does, and ends on any text', () => {
    expect(countTokens('')).toBe(0)
    expect(countTokens('export class A {}')).toBeGreaterThan(3)
    fc.assert(fc.property(fc.string({ unit: 'binary' }), text => countTokens(text) <= text.length + 1))
  })
})
