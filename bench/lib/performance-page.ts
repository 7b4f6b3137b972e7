/**
 * docs/performance.md, a page of summaries, and bench/figures.md with every figure. All numbers come from the last run of
 * their benchmark.
 */
import type { Report, Result, Row } from './report.ts'

const MADE_BY = 'Made by `node scripts/performance-page.ts` from `npm run bench`; do not edit by hand.'

export function performancePage(report: Report): string {
  const { machine } = report
  return [
    '# Performance',
    '',
    MADE_BY,
    'Times are medians on a shared machine whose speed drifts: compare ratios, not milliseconds. [All figures](../bench/figures.md) are in a page of their',
    'own, and as JSON in `bench/out`.',
    '',
    `Machine: ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}.`,
    '',
    ...goalsSection(sorted(report)),
    ...peersSection(report.results['peers']),
  ].join('\n')
}

export function figuresPage(report: Report): string {
  const lines = [
    '# Figures of all benchmarks',
    '',
    `${MADE_BY} [Performance](../docs/performance.md) has the summary. The rows of a section come from one run.`,
    'Times are medians (p50) and p99. The *floor* is the time the kernel takes to compute the sign-code distances of all 100,000 vectors in the same',
    'run: nothing that looks at every vector can be quicker.',
    '',
  ]
  for (const [name, result] of sorted(report)) lines.push(...sectionOf(name, result))
  return lines.join('\n')
}

function sorted({ results }: Report): readonly (readonly [name: string, result: Result])[] {
  return Object.entries(results).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Of each benchmark, how many of its goals it met. */
function goalsSection(all: readonly (readonly [name: string, result: Result])[]): readonly string[] {
  const lines = all.flatMap(([name, { rows, commit }]) => {
    const judged = rows.filter(row => row.ok !== undefined)
    if (judged.length === 0) return []
    const missed = judged.filter(row => row.ok === false).map(row => `${row.name} (${row.goal})`)
    const met = `${judged.length - missed.length} of ${judged.length}`
    return [`| [${name}](../bench/figures.md#${name}) | ${met} | ${missed.join('; ')} | ${commit} |`]
  })
  return ['## Goals', '', '| Benchmark | Met | Missed | Commit |', '| --- | --- | --- | --- |', ...lines, '']
}

/** Rows of `peers` are named `engine: question`: one line per engine, one column per question. */
function peersSection(result: Result | undefined): readonly string[] {
  if (result === undefined) return []
  const cells = result.rows.filter(({ unit }) => unit === 'ms').map(row => ({ row, of: row.name.split(': ') }))
  const engines = [...new Set(cells.map(({ of }) => of[0]))]
  const kinds = [...new Set(cells.map(({ of }) => of[1]))]
  const cell = (engine: string | undefined, kind: string | undefined) => {
    const row = cells.find(({ of }) => of[0] === engine && of[1] === kind)?.row
    return row === undefined ? '' : `${show(row.value)} (${show(row.p99 ?? row.value)})`
  }
  return [
    '## Peers',
    '',
    `Engines that programs embed for the same purpose, over the same 100,000 passages, vectors and queries (\`npm run bench -- peers\`, commit ${result.commit}).`,
    'Answers hold ten results with their texts. Milliseconds: the median, and p99 in brackets. Only Querent also decides what the viewer may',
    'see, explains each rank and counts each use on disk.',
    '',
    `| | ${kinds.join(' | ')} |`,
    `| --- |${' --- |'.repeat(kinds.length)}`,
    ...engines.map(engine => `| ${engine} | ${kinds.map(kind => cell(engine, kind)).join(' | ')} |`),
    '',
  ]
}

const AGAIN = ['', ', measured twice, as a goal was missed', ', measured three times, as goals were missed']

function sectionOf(name: string, { commit, load, rows, repeats = [] }: Result): readonly string[] {
  const notes = rows.filter(row => row.note !== undefined)
  return [
    `## ${name}`,
    '',
    `\`npm run bench -- ${name}\` (commit ${commit}, load ${load} at its start${AGAIN[repeats.length]})`,
    '',
    `| What | Value |${repeats.length > 0 ? ' Repeats |' : ''} p99 | x floor | Goal | Met |`,
    `| --- | --- |${repeats.length > 0 ? ' --- |' : ''} --- | --- | --- | --- |`,
    ...rows.map(row => tableRow(row, repeats)),
    ...(notes.length > 0 ? ['', ...notes.map(row => `- ${row.name}: ${row.note}`)] : []),
    '',
  ]
}

/** `repeats`: the rows of the runs after the first, of which the one of the same name is shown. */
function tableRow(row: Row, repeats: readonly (readonly Row[])[]): string {
  const again = repeats.flatMap(rows => rows.filter(({ name }) => name === row.name))
  const cells = [
    row.name,
    `${show(row.value)} ${row.unit}`,
    ...(repeats.length > 0 ? [again.map(({ value }) => show(value)).join(', ')] : []),
    row.p99 === undefined ? '' : show(row.p99),
    row.ratioToFloor === undefined ? '' : row.ratioToFloor.toFixed(2),
    row.goal ?? '',
    row.ok === undefined ? '' : row.ok ? 'yes' : 'no',
  ]
  return `| ${cells.join(' | ')} |`
}

function show(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
