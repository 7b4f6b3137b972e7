/** Makes docs/performance.md from bench/out/report.json: every number in it comes from the last run of its benchmark. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Machine, Row } from '../bench/lib/report.ts'

interface Report {
  readonly machine: Machine
  readonly commit: string
  readonly results: Readonly<Record<string, readonly Row[]>>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const report = JSON.parse(readFileSync(`${root}bench/out/report.json`, 'utf8')) as Report
const { machine, commit, results } = report

const lines = [
  '# Performance',
  '',
  'Made by `node scripts/performance-page.ts` from `npm run bench`; do not edit by hand. The rows of a section come from one run,',
  'which may be an older one than that of the machine and commit named here: they are of the last.',
  'Times are medians (p50) and p99 on a shared machine whose speed drifts: compare ratios, not milliseconds. The *floor* is the time the kernel takes to compute the',
  'sign-code distances of all 100,000 vectors in the same run: nothing that looks at every vector can be quicker.',
  '',
  `Machine: ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, load ${machine.load}; commit ${commit}.`,
  '',
]
for (const [name, rows] of Object.entries(results)) {
  lines.push(`## ${name}`, '', `\`npm run bench -- ${name}\``, '')
  lines.push('| What | Value | p99 | x floor | Goal | Met |', '| --- | --- | --- | --- | --- | --- |')
  for (const row of rows) lines.push(tableRow(row))
  const notes = rows.filter(row => row.note !== undefined)
  if (notes.length > 0) lines.push('', ...notes.map(row => `- ${row.name}: ${row.note}`))
  lines.push('')
}
writeFileSync(`${root}docs/performance.md`, lines.join('\n'))

function tableRow(row: Row): string {
  const cells = [
    row.name,
    `${show(row.value)} ${row.unit}`,
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
