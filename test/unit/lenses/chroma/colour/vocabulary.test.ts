import { describe, expect, it } from 'vitest'
import { Bindings } from '../../../../../src/lenses/chroma/colour/bindings.ts'
import { Coordinates } from '../../../../../src/lenses/chroma/colour/coordinates.ts'
import { normaliseHashtag } from '../../../../../src/lenses/chroma/colour/hashtag.ts'
import { tagsInText } from '../../../../../src/lenses/chroma/colour/suggest.ts'
import { assignStarter, loadVocabulary, starterVocabulary } from '../../../../../src/lenses/chroma/colour/vocabulary.ts'
import { hostOf, thrownBy } from './colour-world.ts'

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
    bindings.assign('mine', { anchorId: 1 })
    const made = assignStarter(bindings)
    expect(made).toHaveLength(tags.length - 1)
    expect(bindings.resolve('python')).toMatchObject({ zone: 'Outer' })
    expect(made[0]).toMatchObject({ hashtag: '#programming', anchor_id: 2 })
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
