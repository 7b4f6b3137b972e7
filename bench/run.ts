/**
 * `npm run bench [-- <name>…]`: runs every benchmark (or those named) one after the other, prints one JSON document, and
 * keeps it in bench/out/report.json, and makes docs/performance.md anew from all figures that are kept.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writePage } from './lib/kept-figures.ts'
import { type Benchmark, commit, machine, type Report, type Result, type Row } from './lib/report.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(here).filter(file => file.endsWith('.ts') && file !== 'run.ts')
const results: Record<string, Result> = wanted.length > 0 ? previous() : {}

for (const file of files.sort()) {
  const benchmark = (await import(`./${file}`)) as Benchmark
  if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue
  console.error(`bench ${benchmark.name} …`)
  const result = { commit: commit(), load: machine().load, rows: await benchmark.run() }
  results[benchmark.name] = result
  for (const row of result.rows) console.error(`  ${describe(row)}`)
  keep()
}

writePage()
console.log(JSON.stringify(report(), null, 2))

/** After each benchmark, so that a run that is stopped keeps what it has measured. */
function keep(): void {
  mkdirSync(`${here}out`, { recursive: true })
  writeFileSync(`${here}out/report.json`, `${JSON.stringify(report(), null, 2)}\n`)
}

function report(): Report {
  return { machine: machine(), results }
}

function describe(row: Row): string {
  const ratio = row.ratioToFloor === undefined ? '' : ` (${row.ratioToFloor.toFixed(2)} x floor)`
  const verdict = row.ok === undefined ? '' : row.ok ? ' ok' : ' MISSED'
  const p99 = row.p99 === undefined ? '' : `, p99 ${round(row.p99)}`
  return `${row.name}: ${round(row.value)} ${row.unit}${p99}${ratio}${row.goal ? ` [goal ${row.goal}${verdict}]` : ''}`
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

/** Rows of the last run, so that running one benchmark again replaces only its own. */
function previous(): Record<string, Result> {
  try {
    return { ...(JSON.parse(readFileSync(`${here}out/report.json`, 'utf8')) as Report).results }
  } catch {
    return {}
  }
}
