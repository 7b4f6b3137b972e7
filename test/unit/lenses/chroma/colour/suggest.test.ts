import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Bindings } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { tagsInText } from '../../../../../src/lenses/chroma/colour/suggest.ts'
import { ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import { hostOf, thrownBy } from './colour-world.ts'

function suggest(text: unknown, ...tags: string[]): readonly string[] {
  const bindings = new Bindings(hostOf())
  bindings.assignMany(tags.map(hashtag => ({ hashtag, zone: 'Mid' })))
  return tagsInText(text, bindings.current.resolve)
}

describe('hashtags in a text', () => {
  it('are those of the example (CQ-144)', () => {
    expect(suggest('Python, (C++) and "3.12".', '#python', '#3.12', '#c++')).toEqual(['#python', '#c++', '#3.12'])
  })

  it('come in the order of their first appearance, once each (CQ-143)', () => {
    expect(suggest('Rust and go; RUST or Go!', 'go', 'rust', 'java')).toEqual(['#rust', '#go'])
  })

  it('of empty text are none, of anything but text an error (CQ-143)', () => {
    expect(suggest('', 'a')).toEqual([])
    expect(suggest(' \n\t ', 'a')).toEqual([])
    for (const given of [undefined, null, 7, ['a'], {}]) {
      const error = thrownBy(() => suggest(given, 'a'))
      expect(error).toBeInstanceOf(ValidationError)
      expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'content' } })
    }
  })

  it.each<[text: string, tags: string[], found: string[]]>([
    [
      'v3.13 node.js two-phase snake_case',
      ['v3.13', 'node.js', 'two-phase', 'snake_case'],
      ['#v3.13', '#node.js', '#two-phase', '#snake_case'],
    ],
    ['v3.13 node.js', ['v3', 'node', 'js', '13'], []], // a token is not taken apart
    ['pythons pytho', ['python'], []], // no stemming, no guessing
    ['#python ##rust', ['python', 'rust'], ['#python', '#rust']],
    ['"c#", c#.', ['c#'], ['#c#']],
    ['c#', ['c'], ['#c']], // punctuation at an edge
    ['c++', ['c'], []], // no punctuation
    ['.net,', ['.net'], ['#.net']],
    ['.net', ['net', '.net'], ['#.net']], // the raw form first
    ['(.net)', ['net', '.net'], ['#net']], // the front is stripped before the back
    ['`python` *go* “rust”…', ['python', 'go', 'rust'], ['#python', '#go', '#rust']],
    ['CAFE\u0301', ['caf\u00e9'], ['#caf\u00e9']],
    ['(C++)', ['c++)', 'c++'], ['#c++)']], // first hit wins: only the front gone
    [`(${'🦊'.repeat(100)}).`, ['🦊'.repeat(100)], [`#${'🦊'.repeat(100)}`]],
    ['...', ['a'], []],
  ])('%s with %j gives %j (CQ-144)', (text, tags, found) => {
    expect(suggest(text, ...tags)).toEqual(found)
  })

  it('changes nothing (CQ-143)', () => {
    const host = hostOf()
    const bindings = new Bindings(host)
    bindings.assign('a', { zone: 'Core' })
    const version = host.store.version()
    tagsInText('a b c', bindings.current.resolve)
    expect([host.store.version(), bindings.list().length]).toEqual([version, 1])
  })

  it('asks for normal forms alone, and few of them, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), text => {
        tagsInText(text, hashtag => {
          expect(hashtag).toMatch(/^#[^\s#]\S*$/u)
          return null
        })
      }),
    )
    let asked = 0
    const count = () => {
      asked++
      return null
    }
    for (const text of ['('.repeat(100_000), `${'('.repeat(50_000)}a${')'.repeat(50_000)}`, 'x'.repeat(100_000)]) {
      tagsInText(text, count)
    }
    expect(asked).toBeLessThan(1000)
  })
})
