/**
 * `npm run bench [-- <name>…]`: runs every benchmark (or those named) one after the other, prints one JSON document, and
 * keeps it in bench/out/report.json, and makes docs/performance.md from all figures that are kept. Each has a process
 * of its own: what one leaves behind (heap, compiled code, caches) must not be measured by the next. The first run is the
 * figure. Where it misses a goal the benchmark runs again, twice at most, and the page shows the repeats beside it: on a
 * machine that is shared, a miss that does not repeat was a neighbour's. Figures are written after each run.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writePages } from './lib/kept-figures.ts'
import { commit, machine, type Report, type Result, type Row } from './lib/report.ts'

const MAX_RUNS = 3
const here = fileURLToPath(new URL('.', import.meta.url))
const wanted = process.argv.slice(2)
const names = readdirSync(here)
  .flatMap(file => /^(.+)\.ts$/.exec(file)?.[1] ?? [])
  .filter(name => name !== 'run')
  .sort()
const unknown = wanted.find(name => !names.includes(name))
if (unknown !== undefined) {
  console.error(`There is no benchmark ${JSON.stringify(unknown)}. Name any of: ${names.join(', ')}.`)
  process.exit(2)
}
const results: Record<string, Result> = previous()

for (const name of names) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.error(`bench ${name} …`)
  const runs: (readonly Row[])[] = []
  let [isMissed, startLoad] = [false, 0]
  do {
    const load = machine().load
    const rows = await measured(name)
    if (rows === undefined) {
      console.error(`bench ${name} failed; its last figures stay`)
      process.exitCode = 1
      break
    }
    for (const row of rows) console.error(`  ${describe(row)}`)
    runs.push(rows)
    const [first = rows, ...repeats] = runs
    if (runs.length === 1) startLoad = load
    results[name] = { commit: commit(), load: startLoad, rows: first, repeats }
    keep()
    isMissed = rows.some(({ ok }) => ok === false)
  } while (isMissed && runs.length < MAX_RUNS)
}

console.log(JSON.stringify(report(), null, 2))

async function measured(name: string): Promise<readonly Row[] | undefined> {
  const child = fork(`${here}lib/one-benchmark.ts`, [`../${name}.ts`], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let rows: readonly Row[] | undefined
  child.on('message', message => {
    rows = message as readonly Row[]
  })
  const [code] = await once(child, 'exit')
  return code === 0 ? rows : undefined
}

/** After each run, so that a benchmark that is stopped keeps what it has measured. */
function keep(): void {
  mkdirSync(`${here}out`, { recursive: true })
  writeFileSync(`${here}out/report.json`, `${JSON.stringify(report(), null, 2)}\n`)
  writePages()
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

/** Rows of the last run: a benchmark replaces only its own, and only when it came to its end. */
function previous(): Record<string, Result> {
  try {
    return { ...(JSON.parse(readFileSync(`${here}out/report.json`, 'utf8')) as Report).results }
  } catch {
    return {}
  }
}
