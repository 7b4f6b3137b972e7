import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatResultsMarkdown } from '../../../../src/lenses/collections/markdown.ts'
import { agentDays, ChromaQueryError } from '../../../../src/lenses/collections/request.ts'
import { dateText } from '../../../../src/lenses/collections/results.ts'
import { texts } from '../../../support/arbitraries.ts'
import { resultOf } from './world.ts'

describe('dates shown', () => {
  it.each([
    [{ date: '2026-02-24T10:00:00Z' }, '2026-02-24'],
    [{ date: '2026-02-24', analyzed_at: '2026-01-01' }, '2026-02-24'],
    [{ analyzed_at: '2026-01-01' }, '2026-01-01'],
    [{ date: 'soon', analyzed_at: '2026-01-01' }, '2026-01-01'],
    [{ date: 'some time last year' }, 'some time '],
    [{ date: `${'x'.repeat(9)}🦊🦊` }, `${'x'.repeat(9)}🦊`],
    [{}, 'unknown'],
    [{ date: 1_771_927_200 }, '2026-02-24'],
    [{ date: 1_771_927_200_000 }, '2026-02-24'],
  ])('%j is %s (CO-002, CO-003)', (metadata, shown) => {
    expect(dateText({ metadata })).toBe(shown)
  })
})

describe('the layout', () => {
  it('of an empty answer, in Spanish and English (CO-033, CO-042)', () => {
    expect(formatResultsMarkdown([], 'x')).toBe(
      '## Resumen\n\nNo se encontraron resultados para: "x"\n\n## Sugerencias\n\n- Intenta con términos más generales\n' +
        '- Elimina el filtro de días si lo usaste\n- Prueba con palabras clave alternativas\n',
    )
    expect(formatResultsMarkdown([], 'x', { lang: 'en' })).toBe(
      '## Summary\n\nNo results found for: "x"\n\n## Suggestions\n\n- Try broader terms\n' +
        '- Remove the day filter if you used it\n- Try alternative keywords\n',
    )
  })

  it('of a filled answer, line by line (CO-032, CO-034, CO-035, CO-036, CO-037, CO-040)', () => {
    const results = [
      resultOf(),
      resultOf({ title: 'Other', source: 'analysis', score: 0.9, metadata: {} }),
      resultOf({ title: 'Third', source: 'items', score: 0.5 }),
      resultOf({ title: 'Fourth', source: 'notes', score: 0 }),
    ]
    expect(formatResultsMarkdown(results, 'mcp').split('\n')).toEqual([
      '## Resumen',
      '',
      'Encontrados 4 resultados para "mcp" en: items, analysis',
      '',
      '## Fuentes (4 resultados)',
      '',
      '1. **Test Title** - 2026-02-24 - score: 0.92',
      '   > Test content here',
      '',
      '2. **Other** - unknown - score: 0.90',
      '   > Test content here',
      '',
      '3. **Third** - 2026-02-24 - score: 0.50',
      '   > Test content here',
      '',
      '4. **Fourth** - 2026-02-24 - score: 0.00',
      '   > Test content here',
      '',
      '## Detalles',
      '',
      '### Items (2 resultados)',
      '',
      'Temas principales:',
      '- Test Title',
      '- Third',
      '',
      '### Analysis (1 resultados)',
      '',
      'Temas principales:',
      '- Other',
      '',
      '### Notes (1 resultados)',
      '',
      'Temas principales:',
      '- Fourth',
      '',
    ])
  })

  it('in English has the same structure (CO-042)', () => {
    expect(formatResultsMarkdown([resultOf()], 'q', { lang: 'en' })).toBe(
      '## Summary\n\nFound 1 result for "q" in: items\n\n## Sources (1 result)\n\n' +
        '1. **Test Title** - 2026-02-24 - score: 0.92\n   > Test content here\n\n' +
        '## Details\n\n### Items (1 result)\n\nMain topics:\n- Test Title\n',
    )
  })

  it('previews 200 code points on one line (CO-038, CO-039)', () => {
    const shown = (content: string) => formatResultsMarkdown([resultOf({ content })], 'q').split('\n')[7]
    expect(shown('x'.repeat(200))).toBe(`   > ${'x'.repeat(200)}`)
    expect(shown('x'.repeat(201))).toBe(`   > ${'x'.repeat(200)}...`)
    expect(shown('🦊'.repeat(201))).toBe(`   > ${'🦊'.repeat(200)}...`)
    expect(shown('one\n two')).toBe('   > one two')
    expect(shown('one\r\n\r\n\ttwo  three')).toBe('   > one two  three')
  })

  it('keeps to its lines whatever line breaks are in question and date (CO-033, CO-034, CO-036)', () => {
    const question = 'one\n## Fuentes\r\n two'
    expect(formatResultsMarkdown([], question).split('\n')[2]).toBe(
      'No se encontraron resultados para: "one ## Fuentes two"',
    )
    const lines = formatResultsMarkdown([resultOf({ metadata: { date: 'x\n\n## y' } })], question).split('\n')
    expect(lines[2]).toBe('Encontrados 1 resultados para "one ## Fuentes two" en: items')
    expect(lines[6]).toBe('1. **Test Title** - x ## y - score: 0.92')
  })

  it('is in no other language (CO-032)', () => {
    const inFrench = () => formatResultsMarkdown([], 'x', { lang: 'fr' as never })
    expect(inFrench).toThrow(ChromaQueryError)
    expect(inFrench).toThrow('lang must be one of es, en, got "fr"')
  })

  it('lists at most five titles, each on one line, under a capitalised source (CO-039, CO-040, CO-041)', () => {
    const results = Array.from({ length: 7 }, (_, at) => resultOf({ title: `T\n${at}`, source: 'myItems' }))
    const lines = formatResultsMarkdown(results, 'q').split('\n')
    expect(lines).toContain('### Myitems (7 resultados)')
    expect(lines.filter(line => line.startsWith('- '))).toEqual(['- T 0', '- T 1', '- T 2', '- T 3', '- T 4'])
  })

  it('adds addresses when asked to (CO-043)', () => {
    const results = [resultOf({ metadata: { url: 'https://b.example', source_url: 'https://a.example' } }), resultOf()]
    expect(formatResultsMarkdown(results, 'q')).not.toContain('example')
    expect(formatResultsMarkdown(results, 'q', { urls: true })).toContain(
      '   > Test content here\n   https://a.example\n\n2. ',
    )
  })

  it('ends in exactly one line feed and keeps a line a result, whatever is in it (CO-032, CO-039)', () => {
    const results = fc.array(
      fc.record({ title: texts(30), content: texts(300), source: fc.constantFrom('items', 'analysis') }),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(results, fc.constantFrom('es' as const, 'en' as const), (given, lang) => {
        const markdown = formatResultsMarkdown(given.map(resultOf), 'q', { lang })
        expect(markdown).toMatch(/[^\n]\n$/)
        const numbered = markdown.split('\n').filter(line => /^\d+\. \*\*/.test(line))
        expect(numbered.length).toBe(given.length)
        expect(markdown.split('\n').filter(line => line.startsWith('   > ')).length).toBe(given.length)
      }),
      { numRuns: 100 },
    )
  })
})

describe('the day rule of the agent', () => {
  it.each([
    ['¿qué hay de nuevo sobre MCP?', 7],
    ['tendencias en agentes', 30],
    ['cómo configurar un hook', null],
    ['¿Qué novedades RECIENTES hay?', 7],
    ['últimas tendencias recientes', 30],
    ['what is new about MCP', 7],
    ['Latest TRENDS in agents', 30],
    ['recent MCP servers', 7],
    ['¿Qué hay RECIÉN publicado?', 7],
    ['lo de esta  semana', 7],
    ['how does renewal work', null],
    ['newton iteration', null],
    ['cómo crear un nuevo servidor MCP', null],
    ['how do I create a new skill', null],
    ['new Map() vs object', null],
    ['how to open a new session', null],
    ['la última línea del archivo', null],
    ['get the latest element of an array', null],
    ['el último argumento de una función', null],
    ['how do new users log in', null],
    ['últimamente', 7],
    ['qué se dijo de agentes la semana pasada', 7],
    ['what happened in the past week', 7],
    ["what's new in agents", 7],
    ['lo último en modelos', 7],
    ['nuevas herramientas para agentes', 7],
    ['new MCP servers', 7],
    ['latest releases of agent frameworks', 7],
    ['latest version of the SDK', 7],
    ['este mes en agentes', 30],
    ['papers of this month', 30],
    ['frameworks de moda', 30],
    ['evolución de los agentes', 30],
    ['emerging agent patterns', 30],
    ['últimos 30 días', 30],
    ['the last 10 days', 10],
    ['últimas 2 semanas', 14],
  ])('%s: %s (CO-062, CO-063, CO-064)', (question, days) => {
    expect(agentDays(question)).toBe(days)
  })
})
