import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assignStarter,
  Bindings,
  loadVocabulary,
  starterVocabulary,
} from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { Coordinates } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { normaliseHashtag, tagsInText } from '../../../../../src/lenses/chroma/colour/stack.ts'
import { ValidationError } from '../../../../../src/lenses/chroma/errors.ts'
import { hostOf, thrownBy } from './colour-world.ts'

describe('a hashtag has one spelling (CQ-012)', () => {
  it.each([
    ['Python', '#python'],
    ['  #ASYNC ', '#async'],
    ['##typing', '#typing'],
    ['C#', '#c#'],
    ['Cafe\u0301', '#caf\u00e9'],
    ['v3.13', '#v3.13'],
    ['x'.repeat(100), `#${'x'.repeat(100)}`],
    ['🦊'.repeat(100), `#${'🦊'.repeat(100)}`],
  ])('%s is %s', (given, expected) => {
    expect(normaliseHashtag(given)).toBe(expected)
  })

  it.each([
    ...[
      '',
      '   ',
      '#',
      ' ## ',
      'two words',
      '# spaced',
      'tab\there',
      'nul\0',
      'half\ud800',
      'x'.repeat(101),
      '🦊'.repeat(101),
    ],
    ...[7, null, undefined, true, ['#a'], { tag: 'a' }],
  ])('%j is none', given => {
    const error = thrownBy(() => normaliseHashtag(given))
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ code: 'invalid_parameter', details: { parameter: 'hashtags' } })
  })

  it('and normalising twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), text => {
        let once: string
        try {
          once = normaliseHashtag(text)
        } catch {
          return
        }
        expect(normaliseHashtag(once)).toBe(once)
      }),
    )
  })
})

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

describe('a vocabulary as text', () => {
  it('has a hashtag and its place a line, comments and empty lines aside', () => {
    const text = [
      '\uFEFF# topics of the team',
      '',
      '##',
      '## Core tags',
      '#Python core   # the language',
      'rust\tMid',
      '#c#,outer',
      '#a,b , 42',
      '  ##go   ,\t7 ',
    ].join('\r\n')
    expect(loadVocabulary(text)).toEqual([
      { hashtag: '#Python', zone: 'core', line: 5 },
      { hashtag: 'rust', zone: 'Mid', line: 6 },
      { hashtag: '#c#', zone: 'outer', line: 7 },
      { hashtag: '#a,b', anchorId: 42, line: 8 },
      { hashtag: '##go', anchorId: 7, line: 9 },
    ])
    expect(loadVocabulary('')).toEqual([])
  })

  it.each([
    ['#a core\n#b', 2],
    ['#comment', 1],
    ['#a core\n\n#b nowhere', 3],
    ['#a 0', 1],
    ['#a 10001', 1],
    ['two words core', 1],
    ['#a core #b', 1],
    [',core', 1],
    [`#a ${' '.repeat(2000)} core`, 1],
  ])('%j is wrong in line %i', (text, line) => {
    const error = thrownBy(() => loadVocabulary(text))
    expect(error).toMatchObject({ name: 'ValidationError', code: 'invalid_parameter', details: { line } })
    expect(String(error)).toContain(`line ${line}: `)
  })

  it('is assigned as a whole, and a conflict names its line (CQ-029)', () => {
    const bindings = new Bindings(hostOf())
    bindings.assign('x', { anchorId: 2 })
    const error = thrownBy(() => bindings.assignMany(loadVocabulary('#a core\n# one comment\n#b 2')))
    expect(error).toMatchObject({ name: 'HashtagConflictError', details: { index: 1, line: 3 } })
    expect(String(error)).toContain('line 3: ')
    expect(bindings.list()).toHaveLength(1)
    bindings.assignMany(loadVocabulary('#a core\n#b 3'))
    expect(bindings.list().map(({ hashtag }) => hashtag)).toEqual(['#a', '#x', '#b'])
  })
})

describe('the starter vocabulary', () => {
  const tags = starterVocabulary()

  it('has distinct hashtags in normal form, most of them Mid', () => {
    const names = tags.map(({ hashtag }) => hashtag)
    expect(new Set(names).size).toBe(names.length)
    expect(names.map(name => normaliseHashtag(name))).toEqual(names)
    const [core = 0, mid = 0, outer = 0] = ['Core', 'Mid', 'Outer'].map(
      zone => tags.filter(tag => tag.zone === zone).length,
    )
    expect(core).toBeGreaterThan(30)
    expect(mid).toBeGreaterThan(300)
    expect(outer).toBeGreaterThan(60)
  })

  it('lets a new user store and ask at once', () => {
    const bindings = new Bindings(hostOf())
    expect(assignStarter(bindings)).toHaveLength(tags.length)
    const text = 'Python: async and await in the stdlib. Typing, dataclass, enum, protocol (v3.13, stable).'
    const found = tagsInText(text, bindings.current.resolve)
    expect(found).toEqual(
      ['python', 'async', 'await', 'stdlib', 'typing', 'dataclass', 'enum', 'protocol', 'v3.13', 'stable'].map(
        t => `#${t}`,
      ),
    )
    expect(new Coordinates(bindings).computeNodeColor(found).every(Number.isFinite)).toBe(true)
  })

  it('is assigned once, around what is already there', () => {
    const host = hostOf()
    const bindings = new Bindings(host)
    bindings.assign('python', { zone: 'Outer' })
    const { anchorId, hashtag } = tags[0] as (typeof tags)[number]
    bindings.assign('mine', { anchorId })
    const made = assignStarter(bindings)
    expect(made).toHaveLength(tags.length - 1)
    const [one, taken] = [bindings.resolve(hashtag), bindings.resolve('mine')] as const
    expect(one?.zone).toBe('Core')
    expect(Math.hypot((one?.L ?? 0) - (taken?.L ?? 99), (one?.a ?? 0) - (taken?.a ?? 99))).toBeLessThan(20)
    expect(bindings.resolve('python')).toMatchObject({ zone: 'Outer' })
    const version = host.store.version()
    expect(assignStarter(bindings)).toEqual([])
    expect(host.store.version()).toBe(version)
  })

  it('fills what room there is in a zone that is nearly full', () => {
    const bindings = new Bindings(hostOf())
    bindings.assignMany(Array.from({ length: 990 }, (_, at) => ({ hashtag: `c${at}`, zone: 'Core' })))
    expect(assignStarter(bindings).filter(({ zone }) => zone === 'Core')).toHaveLength(10)
    expect(assignStarter(bindings)).toEqual([])
  })
})
