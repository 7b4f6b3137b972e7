/** The page of figures says what the kept figures say, and loses nothing that is lost. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FIGURES, keptFigures, PAGE } from '../../bench/lib/kept-figures.ts'
import { peersSection } from '../../bench/lib/peers-page.ts'
import { figuresPage, performancePage } from '../../bench/lib/performance-page.ts'
import type { Row } from '../../bench/lib/report.ts'
import type { Answered, PeerFigures, PeersReport } from '../../bench/peers/lib/figures.ts'
import { SCENARIOS } from '../../bench/peers/lib/scenarios.ts'

const times = (p50: number) => ({ p50, p99: p50 * 3, count: 200 })
const answered = (p50: number, recall = 1, knob: string | null = null): Answered => ({ ...times(p50), recall, knob })

describe('docs/performance.md', () => {
  it('is what the script makes of the kept figures', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(performancePage(keptFigures()))
    expect(readFileSync(FIGURES, 'utf8')).toBe(figuresPage(keptFigures()))
  })

  it('shows what a goal was missed by and every lost cell of the largest set, in one page', () => {
    const page = readFileSync(PAGE, 'utf8')
    const { report, peers } = keptFigures()
    const rows = Object.values(report.results).flatMap(result => result.rows)
    for (const { name } of rows.filter(({ ok }) => ok === false)) expect(page).toContain(name)
    if (peers !== undefined) expect(page).toContain('**lost**')
    expect(page.split('\n').length).toBeLessThan(160)
  })
})

describe('the section of a benchmark', () => {
  const row = (value: number) => ({ name: 'passages', unit: 'times', value, goal: '>= 2', ok: value >= 2 })
  const page = (repeats?: readonly (readonly Row[])[]) =>
    figuresPage({
      report: {
        machine: { cpu: 'any', cores: 2, memoryGiB: 24, node: 'v24', load: 0.1 },
        results: { embed: { commit: 'abc', load: 1, rows: [row(1.9)], repeats } },
      },
    })

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
  it('marks a row as lost to the peer that is quicker, and says how much and what is done about it', () => {
    const page = pageOf([peer('Querent', 'texts', 3), peer('Slow', 'texts', 9), peer('Quick', 'texts', 1.5)])
    expect(page).toContain('| **Querent** | 3 (9) **lost** |')
    expect(page).toContain('Nearest vectors, no filter, 100,000 rows, texts: 2.0 times that of Quick')
    expect(page).toMatch(/- \*\*vectors\*\*: .{40}/)
  })

  it('calls nothing lost within five in a hundred, and nothing that is won', () => {
    expect(pageOf([peer('Querent', 'texts', 1.04), peer('Other', 'texts', 1)])).not.toContain('**lost**')
    expect(pageOf([peer('Querent', 'texts', 1.06), peer('Other', 'texts', 1)])).toContain('**lost**')
    expect(pageOf([peer('Querent', 'texts', 1), peer('Other', 'texts', 2)])).toContain('No row.')
  })

  it('compares only what answers alike, as many rows, and as exactly', () => {
    const ours = [peer('Querent', 'texts', 3), peer('Querent, its indexes alone', 'ids', 0.5)]
    expect(pageOf([...ours, peer('Library', 'ids', 0.6)])).not.toContain('**lost**')
    expect(pageOf([...ours, peer('Small', 'texts', 1, { rows: 10_000 })])).not.toContain('**lost**')
    const inexact = pageOf([...ours, peer('Guesser', 'texts', 1, { recall: 0.7 })])
    expect(inexact).not.toContain('**lost**')
    expect(inexact).toContain('1 (3), *0.700* †')
  })

  it('lets nobody win who answers another question, and calls it no loss to be unlike FTS5', () => {
    const narrow = { ...peer('Narrow', 'texts', 1), words: { ...times(0.1), overlap: 0.1 } }
    const page = pageOf([{ ...peer('Querent', 'texts', 1), words: { ...times(1), overlap: 0.8 } }, narrow])
    expect(page).not.toContain('**lost**')
    expect(page).toContain('| 0.1 (0.3) † | 10 % |')
    expect(page).toContain('| 1 (3) | 80 % |')
  })

  it('says what a peer does not have, what could not be measured and why, and every setting', () => {
    const none = { ...peer('Wordless', 'texts', 1), words: null, settings: 'as it comes' }
    const page = pageOf([peer('Querent', 'texts', 1), none], [{ name: 'Absent', why: 'it does not compile' }])
    expect(page).toMatch(/\| Wordless \| has none \|/)
    expect(page).toContain('- Absent: it does not compile')
    expect(page).toContain('| Wordless | 1.0 | as it comes |')
    expect(page).toContain('| ef 64, for all |')
  })
})

function pageOf(peers: readonly PeerFigures[], missing: PeersReport['missing'] = []): string {
  const machine = { cpu: 'any', cores: 2, memoryGiB: 24, node: 'v24', load: 0.1 }
  return peersSection({ machine, commit: 'abc', target: 0.99, peers, missing }).join('\n')
}

/** Only questions by vector differ. */
function peer(
  name: string,
  holds: 'ids' | 'texts',
  p50: number,
  { rows = 100_000, recall = 1 }: { rows?: number; recall?: number } = {},
): PeerFigures {
  const nearest = Object.fromEntries(SCENARIOS.map(one => [one.name, answered(p50, recall, 'ef 64')]))
  const update = { insert: times(1), found: times(1), update: times(1), remove: times(1), wrong: 0 }
  return {
    ...{ name, version: '1.0', holds, rows, settings: 'defaults', durability: 'none', build: 1, disk: 1e6 },
    ...{ memory: 1e6, open: 1, nearest, words: { ...times(1), overlap: 1 }, hybrid: times(1), update },
  }
}
