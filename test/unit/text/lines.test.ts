import { describe, expect, it } from 'vitest'
import { LineCounter, LineStarts, lineEnds, linesOfSpan } from '../../../src/text/lines.ts'

const TEXT = 'a\nb\r\nc\rd\n'

describe('lines', () => {
  it('end with LF, CR LF or a lone CR', () => {
    expect(lineEnds(TEXT, 0, TEXT.length)).toBe(4)
    const lines = new LineStarts(TEXT)
    expect(lines.count).toBe(5)
    expect([...TEXT].map((_, at) => lines.lineOf(at))).toEqual([1, 1, 2, 2, 2, 3, 3, 4, 4])
    expect(new LineStarts('').count).toBe(1)
  })

  it('are numbered alike in order and in any order', () => {
    const counter = new LineCounter(TEXT)
    const lines = new LineStarts(TEXT)
    for (let at = 0; at < TEXT.length; at++) expect(counter.lineOf(at)).toBe(lines.lineOf(at))
    expect(linesOfSpan(new LineCounter(TEXT), TEXT, 2, 6)).toEqual({ startLine: 2, endLine: 3 })
    expect(linesOfSpan(new LineCounter(TEXT), TEXT, 2, 2)).toEqual({ startLine: 2, endLine: 2 })
  })

  it('are given by number, without the end of the last one, as far as there are any', () => {
    const lines = new LineStarts(TEXT)
    expect(lines.between(1, 1)).toBe('a')
    expect(lines.between(1, 3)).toBe('a\nb\r\nc')
    expect(lines.between(3, 4)).toBe('c\rd')
    expect(lines.between(4, 9)).toBe('d\n')
    expect([lines.between(9, 9), lines.between(2, 1)]).toEqual(['', ''])
  })
})
