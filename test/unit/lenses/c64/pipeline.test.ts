import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../src/base/turns.ts'
import {
  chooseStrategy,
  enrich,
  enrichInSteps,
  hasNaturalLanguage,
  joinContext,
  withoutEnrichment,
} from '../../../../src/lenses/c64/enrichment/enrich.ts'
import { formatEnrichment } from '../../../../src/lenses/c64/enrichment/hits.ts'
import { extractNumbers } from '../../../../src/lenses/c64/enrichment/numbers.ts'
import {
  type EnrichmentInput,
  type EnrichmentPlugin,
  inOrder,
  runPlugins as runInSteps,
} from '../../../../src/lenses/c64/enrichment/plugin.ts'
import { c64Domain } from '../../../../src/lenses/c64/plugins.ts'

const domain = c64Domain()
const runPlugins = (...given: Parameters<typeof runInSteps>) => atOnce(runInSteps(...given))
const plugin = (name: string, enrichment: EnrichmentPlugin['enrich'], priority?: number): EnrichmentPlugin =>
  priority === undefined ? { name, enrich: enrichment } : { name, priority, enrich: enrichment }
const says =
  (...lines: string[]) =>
  () => ({ additionalContext: lines, filterTags: lines.map(line => line.toUpperCase()) })
const throwing = (what: unknown) => () => {
  throw what
}
const input = (query: string): EnrichmentInput => ({ query, numbers: extractNumbers(query) })

describe('an enriched question', () => {
  it('QE-019: is made in a step for each plugin and token, the same whether it pauses there or not', () => {
    const query = Array.from({ length: 300 }, (_, value) => `$${value.toString(16)}`).join(' ')
    const steps = enrichInSteps(query, domain)
    let count = 0
    let step = steps.next(true)
    for (; step.done !== true; step = steps.next(true)) count++
    expect(count).toBeGreaterThanOrEqual(300 + domain.plugins.length)
    expect(step.value).toEqual(enrich(query, domain))
  })

  it('is what the worked example says (EN-027)', () => {
    const found = enrich('What does POKE 53280, 14 do?', domain)
    expect(found.numbers.map(({ value, hex, binary }) => [value, hex, binary])).toEqual([
      [53280, '$D020', undefined],
      [14, '$0E', '%00001110'],
    ])
    const context = [
      '53280 = $D020',
      '14 = $0E / %00001110',
      '$D020 → VIC-II Border Color (border color, bits 0-3)',
      '14 = Light Blue',
    ]
    expect(found.additionalContext).toEqual(context)
    expect(found.filterTags).toEqual(['$D020', 'LIGHT BLUE'])
    expect(found.enrichedQuery).toBe(`What does POKE 53280, 14 do?\n[${context.join('; ')}]`)
    expect(found.strategy).toBe('hybrid')
    expect(found.warnings).toEqual([])
  })

  it('goes through stages that can be called alone (EN-001)', () => {
    const query = 'CIA2 ICR and POKE $D040,14 in light blue'
    const numbers = extractNumbers(query, domain.numbers)
    const { additionalContext, filterTags } = runPlugins(
      inOrder(domain.plugins),
      { query, numbers },
      domain.canonicalTag,
    )
    const naturalLanguage = atOnce(hasNaturalLanguage(query, filterTags, domain))
    expect(enrich(query, domain)).toEqual({
      ...{ query, numbers, additionalContext, filterTags, warnings: [] },
      enrichedQuery: joinContext(query, additionalContext),
      strategy: chooseStrategy(filterTags, naturalLanguage),
    })
    expect([numbers.length, additionalContext.length, filterTags.length]).toEqual([2, 5, 5])
  })

  it('joins its context in brackets, or is the question as it is (EN-026)', () => {
    expect(enrich('$D418', domain).enrichedQuery).toBe(
      '$D418\n[$D418 = 54296; $D418 → SID Filter and Volume (cutoff, resonance, routing, mode, volume)]',
    )
    expect(enrich('raster interrupt', domain).enrichedQuery).toBe('raster interrupt')
    expect(joinContext('a', ['b', 'c'])).toBe('a\n[b; c]')
  })

  it('speaks of plugins in their order: numbers, mirrors, memory, colours, names (EN-025)', () => {
    const names = inOrder(domain.plugins).map(({ name, priority }) => `${name} ${priority}`)
    expect(names).toEqual([
      ...['number 10', 'mirror 20', 'memory_map 30', 'color 40', 'opcode 50', 'register 60', 'tag 70'],
      ...['name_address 80', 'everyday_words 90'],
    ])
    const found = enrich('CHROUT and POKE $D060,14 for EXTCOL', domain)
    expect(found.additionalContext).toEqual([
      '$D060 = 53344',
      '14 = $0E / %00001110',
      '$D060 is mirror of $D020 (VIC-II EXTCOL)',
      '$D060 → VIC-II Mirrors (repeat of $D000-$D03F)',
      '14 = Light Blue',
      'EXTCOL = $D020 (VIC-II)',
      'CHROUT = $FFD2 (KERNAL)',
    ])
    expect(found.filterTags).toEqual(['$D020', '$D060', '$FFD2', 'CHROUT', 'EXTCOL', 'LIGHT BLUE'])
  })

  it('holds nothing of prose (EN-017)', () => {
    const found = enrich('the 6502 of 1975 in 64 kb', domain)
    expect([found.additionalContext, found.filterTags, found.strategy]).toEqual([[], [], 'semantic'])
  })

  it('is the same every time, whatever the text (EN-020)', () => {
    const words = fc.constantFrom(
      ...['POKE', '53280', ',', '14', 'lda', '$D040', 'LIGHT_BLUE', 'icr', 'CIA2', 'SCREEN', '\n'],
    )
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.array(words, { maxLength: 12 }).map(parts => parts.join(' ')),
    )
    fc.assert(
      fc.property(text, query => {
        const found = enrich(query, domain)
        expect(enrich(query, c64Domain())).toEqual(found)
        expect(found.warnings).toEqual([])
        expect(found.filterTags).toEqual([...new Set(found.filterTags)].sort())
        expect(new Set(found.additionalContext).size).toBe(found.additionalContext.length)
        expect(found.strategy === 'semantic').toBe(found.filterTags.length === 0)
        // Tags are canonical, so that they meet what is stored.
        expect(found.filterTags.map(tag => domain.canonicalTag?.(tag))).toEqual(found.filterTags)
      }),
    )
  })

  it('is printed with its tags and mode (EN-072)', () => {
    const context = '[$D418 = 54296; $D418 → SID Filter and Volume (cutoff, resonance, routing, mode, volume)]'
    expect(formatEnrichment(enrich('$D418', domain))).toBe(`$D418\n${context}\n\nTags: $D418\nMode: filtered`)
    expect(formatEnrichment(withoutEnrichment('$D418'))).toBe('$D418\n\nTags: none\nMode: semantic')
  })
})

describe('plugins', () => {
  it('run by priority, 100 without one, then by name (EN-019)', () => {
    const plugins = [
      plugin('z', says('z'), 5),
      plugin('b', says('b')),
      plugin('a', says('a')),
      plugin('late', says('late'), 101),
      plugin('first', says('first'), -1),
    ]
    expect(inOrder(plugins).map(({ name }) => name)).toEqual(['first', 'z', 'a', 'b', 'late'])
  })

  it('see one frozen input (EN-020)', () => {
    const seen: EnrichmentInput[] = []
    const keep = (given: EnrichmentInput) => {
      seen.push(given)
      return { additionalContext: [], filterTags: [] }
    }
    runPlugins([plugin('a', keep), plugin('b', keep)], { query: 'x', numbers: [...extractNumbers('14')] })
    const [first, second] = seen
    expect(second).toBe(first)
    expect([first, first?.numbers, first?.numbers[0], first?.numbers[0]?.at].every(Object.isFrozen)).toBe(true)
  })

  it('that write to it fail alone, and others are unharmed (EN-020, EN-023)', () => {
    const spoil = plugin('spoil', given => {
      ;(given.numbers as { length: number }).length = 0
      return { additionalContext: ['spoilt'], filterTags: [] }
    })
    const count = plugin('x', ({ numbers }) => ({ additionalContext: [`${numbers.length}`], filterTags: [] }))
    const outcome = runPlugins([spoil, count], input('14'))
    expect(outcome.additionalContext).toEqual(['1'])
    expect(outcome.warnings).toEqual([{ plugin: 'spoil', message: expect.stringContaining('plugin spoil failed') }])
  })

  it.each([
    ['throws', throwing(new Error('no table')), /no table/],
    ['throws no error', throwing('no table'), /no table/],
    ['returns nothing', () => undefined, /additionalContext/],
    ['returns a promise', async () => ({ additionalContext: [], filterTags: [] }), /additionalContext/],
    ['returns a text', () => 'text', /additionalContext/],
    ['returns no tags', () => ({ additionalContext: [] }), /filterTags/],
    ['returns numbers', () => ({ additionalContext: [1], filterTags: [] }), /additionalContext/],
  ])('that %s are named and add nothing (EN-023)', (_, broken, reason) => {
    const bad = plugin('bad', broken as unknown as EnrichmentPlugin['enrich'])
    const outcome = runPlugins([plugin('a', says('one')), bad, plugin('c', says('two'))], input('x'))
    expect(outcome.additionalContext).toEqual(['one', 'two'])
    expect(outcome.warnings).toEqual([{ plugin: 'bad', message: expect.stringMatching(reason) }])
  })

  it('say each line once; tags are a sorted union (EN-025)', () => {
    const outcome = runPlugins([plugin('a', says('b', 'a')), plugin('b', says('a', 'c', ' '))], input('x'))
    expect(outcome).toEqual({ additionalContext: ['b', 'a', 'c'], filterTags: ['A', 'B', 'C'], warnings: [] })
  })

  it('cannot change an answer afterwards (EN-020)', () => {
    const kept = ['one']
    const outcome = runPlugins([plugin('a', () => ({ additionalContext: kept, filterTags: kept }))], input('x'))
    kept.push('two')
    expect(outcome.additionalContext).toEqual(['one'])
  })
})
