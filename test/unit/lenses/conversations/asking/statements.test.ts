/** In which order messages were said, and which of them say again what others said before. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../../src/base/turns.ts'
import {
  newerStatements,
  newestFirst,
  type SaidAt,
  type Statement,
  saidOrder,
} from '../../../../../src/lenses/conversations/asking/ask.ts'

describe('in which order messages were said', () => {
  const said = (thread: string, position: number, at: number | null): SaidAt => ({ thread, position, at })

  it.each<[string, readonly SaidAt[], readonly number[]]>([
    ['is that of their times', [said('a', 0, 30), said('a', 1, 10), said('b', 0, 20)], [1, 2, 0]],
    ['of one moment is that of their places', [said('a', 2, 10), said('a', 1, 10)], [1, 0]],
    ['of one moment takes threads as they are listed', [said('b', 5, 10), said('a', 0, 10)], [0, 1]],
    [
      'takes what has no time with the one before it',
      [said('a', 1, null), said('a', 2, 30), said('b', 0, 20), said('a', 0, 10)],
      [3, 0, 2, 1],
    ],
    [
      'takes what has none before it with the one after it',
      [said('a', 1, 20), said('b', 0, 10), said('a', 0, null)],
      [1, 2, 0],
    ],
    ['puts threads without a time last', [said('a', 0, null), said('b', 0, 10), said('a', 1, null)], [1, 0, 2]],
  ])('%s', (_, messages, places) => {
    expect(saidOrder(messages)).toEqual(places)
  })

  it('has each of them once', () => {
    const message = fc.record({
      thread: fc.constantFrom('a', 'b', 'c'),
      position: fc.nat(9),
      at: fc.option(fc.nat(5)),
    })
    fc.assert(
      fc.property(fc.array(message), messages => {
        expect([...saidOrder(messages)].sort((a, b) => a - b)).toEqual([...messages.keys()])
      }),
    )
  })
})

function said(id: string, position: number, text: string, more: Partial<Statement> = {}): Statement {
  return { id, thread: 'home', speaker: 'Mira', position, at: null, text, vector: null, ...more }
}

const idsBy = (statements: readonly Statement[]) =>
  Object.fromEntries([...atOnce(newerStatements(statements))].map(([{ id }, older]) => [id, older]))

describe('a newer statement', () => {
  it('is later, by the same speaker, in the same conversation, on the same subject', () => {
    const red = said('a', 0, 'My old bicycle is red.')
    const blue = said('b', 4, 'My old bicycle is blue.')
    expect(idsBy([blue, red])).toEqual({ a: [], b: ['a'] })
    expect(idsBy([said('b', 4, 'The soup was cold.'), red])).toEqual({ a: [], b: [] })
    expect(idsBy([{ ...blue, speaker: 'Tom' }, red])).toEqual({ a: [], b: [] })
    expect(idsBy([{ ...blue, thread: 'work' }, red])).toEqual({ a: [], b: [] })
    expect(
      idsBy([
        { ...blue, speaker: '' },
        { ...red, speaker: '' },
      ]),
    ).toEqual({ a: [], b: [] })
  })

  it('names all it is newer than, the oldest first', () => {
    const three = ['red', 'blue', 'green'].map((colour, at) => said(`s${at}`, at, `My old bicycle is ${colour}.`))
    expect(idsBy([...three].reverse())).toEqual({ s0: [], s1: ['s0'], s2: ['s0', 's1'] })
  })

  it('shares two words of content at least, and is near where both have vectors', () => {
    expect(idsBy([said('a', 0, 'My bicycle is red.'), said('b', 1, 'The bicycle fell.')])).toEqual({ a: [], b: [] })
    const long =
      'Apart from the old bicycle there were ten lamps, seven chairs, four tables, a stove, pans, and two ladders.'
    expect(idsBy([said('a', 0, long), said('b', 1, `The old bicycle, ${long.slice(31)}`)])['b']).toEqual(['a'])
    expect(
      idsBy([
        said('a', 0, long),
        said(
          'b',
          1,
          'Old and tired, he took the bicycle of somebody else, rode home, slept, woke, ate, read, wrote, sang, cooked, washed, left.',
        ),
      ])['b'],
    ).toEqual([])
    const vector = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle))
    const text = 'My old bicycle.'
    const at = (angle: number) => [
      said('a', 0, text, { vector: vector(0) }),
      said('b', 1, text, { vector: vector(angle) }),
    ]
    expect(idsBy(at(1.2))['b']).toEqual(['a'])
    expect(idsBy(at(1.3))['b']).toEqual([])
  })

  it('is recognised in the language of all of them', () => {
    const older = said('a', 0, 'No quiero batería en la casa de ningún modo.')
    expect(idsBy([older, said('b', 1, 'Una batería en casa, sí.')])['b']).toEqual(['a'])
  })
})

describe('the newest first', () => {
  it('keeps all, moves a newer one right before the first it is newer than, and nothing beyond the first ten', () => {
    expect(newestFirst([3, 9, 1, 4], (item, than) => item === than + 1)).toEqual([4, 3, 9, 1])
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(40), { maxLength: 20 }), items => {
        const ordered = newestFirst(items, (item, than) => item > than && item % 4 === than % 4)
        expect([...ordered].sort()).toEqual([...items].sort())
        expect(ordered.slice(10)).toEqual(items.slice(10))
        for (const rest of [0, 1, 2, 3]) {
          const same = ordered.slice(0, 10).filter(item => item % 4 === rest)
          expect(same).toEqual([...same].sort((a, b) => b - a))
        }
      }),
    )
  })
})
