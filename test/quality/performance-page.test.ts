/** The pages of figures say what the kept figures say, and name every goal that is missed. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FIGURES, keptFigures, PAGE } from '../../bench/lib/kept-figures.ts'
import { figuresPage, performancePage } from '../../bench/lib/performance-page.ts'
import type { Row } from '../../bench/lib/report.ts'

const MACHINE = { cpu: 'any', cores: 2, memoryGiB: 24, node: 'v24', load: 0.1 }

describe('docs/performance.md', () => {
  it('is what the script makes of the kept figures', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(performancePage(keptFigures()))
    expect(readFileSync(FIGURES, 'utf8')).toBe(figuresPage(keptFigures()))
  })

  it('names every goal that is missed, in one page', () => {
    const page = readFileSync(PAGE, 'utf8')
    const rows = Object.values(keptFigures().results).flatMap(result => result.rows)
    for (const { name } of rows.filter(({ ok }) => ok === false)) expect(page).toContain(name)
    expect(page.split('\n').length).toBeLessThan(100)
  })
})

describe('the section of a benchmark', () => {
  const row = (value: number) => ({ name: 'passages', unit: 'times', value, goal: '>= 2', ok: value >= 2 })
  const page = (repeats?: readonly (readonly Row[])[]) =>
    figuresPage({ machine: MACHINE, results: { embed: { commit: 'abc', load: 1, rows: [row(1.9)], repeats } } })

  it('shows the first run as the figure and what repeats gave beside it', () => {
    expect(page([[row(1.95)], [row(2.1)]])).toContain('| passages | 1.90 times | 1.95, 2.10 |  |  | >= 2 | no |')
    expect(page([[row(1.95)]])).toContain('| What | Value | Repeats |')
  })

  it.each([undefined, []])('has no column of repeats where there were none', repeats => {
    expect(page(repeats)).toContain('| passages | 1.90 times |  |  | >= 2 | no |')
    expect(page(repeats)).not.toContain('Repeats')
  })
})

describe('the section on peers', () => {
  it('has a line for each engine, a column for each question, and nothing where one was not measured', () => {
    const row = (name: string, value: number) => ({ name, unit: 'ms', value, p99: 3 * value })
    const rows = [row('Querent: words', 1), row('Querent: hybrid', 2), row('Other: words', 5)]
    const page = performancePage({ machine: MACHINE, results: { peers: { commit: 'abc', load: 1, rows } } })
    expect(page).toContain('| | words | hybrid |')
    expect(page).toContain('| Querent | 1 (3) | 2 (6) |')
    expect(page).toContain('| Other | 5 (15) |  |')
  })
})
