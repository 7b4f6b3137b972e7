/**
 * Fills the tables of docs/scaling.md from bench/out/scale.json (`npm run bench -- scale`) and, for embedding, from
 * bench/out/report.json. The words between the tables are written by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Machine, Report } from '../bench/lib/report.ts'

interface Scale {
  readonly machine: Machine
  readonly commit: string
  readonly every: readonly Series[]
}

interface Series {
  readonly name: string
  readonly unit: string
  readonly points: readonly (readonly [chunks: number, value: number])[]
}

const MILLION = 1e6
const BILLION = 1e9
/** What a machine of the projection has; the page says so. */
const NODE = { cores: 16, memory: 64 * 2 ** 30, filled: 0.75 }

const root = fileURLToPath(new URL('..', import.meta.url))
const scale = JSON.parse(readFileSync(`${root}bench/out/scale.json`, 'utf8')) as Scale
const page = `${root}docs/scaling.md`
const sizes = [...new Set(scale.every.flatMap(({ points }) => points.map(([size]) => size)))].sort((a, b) => a - b)
const largest = sizes.at(-1) ?? 0

let text = readFileSync(page, 'utf8')
for (const [name, lines] of Object.entries({ growth: growth(), million: million(), billion: billion() })) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/scaling.md has no place for ${name}`)
  text = `${text.slice(0, from + begin.length)}\n\n${lines.join('\n')}\n\n${text.slice(to)}`
}
writeFileSync(page, text)

/** All that was measured, by size. */
function growth(): readonly string[] {
  const { machine, commit } = scale
  return [
    `Made by \`node scripts/scaling-page.ts\` from \`npm run bench -- scale\`: ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}, load ${machine.load}; commit ${commit}.`,
    '',
    `| What | Unit | ${sizes.map(size => size.toLocaleString('en')).join(' | ')} |`,
    `| --- | --- |${' ---: |'.repeat(sizes.length)}`,
    ...scale.every.map(({ name, unit, points }) => {
      const values = new Map(points)
      return `| ${name} | ${unit} | ${sizes.map(size => show(values.get(size))).join(' | ')} |`
    }),
  ]
}

interface Costs {
  /** Bytes a chunk. */
  readonly disk: number
  readonly memory: number
  /** Seconds of processor time a chunk. */
  readonly put: number
  readonly vectors: number
  readonly build: number
  readonly embed: number
  /** Of a question to the largest store. */
  readonly question: number
}

function costs(): Costs {
  const ofBuild = (index: string) => largestOf(`build ${index} from the store, processor time`) / largest
  return {
    disk: largestOf('store file') + largestOf('snapshot of words') + largestOf('snapshot of vectors'),
    memory: largestOf('memory, as the process grows'),
    put: largestOf('put, processor time') / 1e6,
    vectors: largestOf('take given vectors, processor time') / 1e6,
    build: ofBuild('words') + ofBuild('vectors'),
    embed: embedding(),
    question: largestOf('processor time of a question') / 1e3,
  }
}

function million(): readonly string[] {
  const { disk, memory, put, vectors, build, embed, question } = costs()
  return [
    `| A million chunks of 60 words, 384 dimensions | Cost | From |`,
    '| --- | ---: | --- |',
    `| disk: store file and snapshots | ${gigabytes(disk * MILLION)} | ${disk.toFixed(0)} bytes a chunk |`,
    `| memory | ${gigabytes(memory * MILLION)} | ${memory.toFixed(0)} bytes a chunk, as the process grows |`,
    `| taking in entries, one core | ${seconds(put * MILLION)} | ${(put * 1e6).toFixed(0)} µs a chunk |`,
    `| storing their vectors, one core | ${seconds(vectors * MILLION)} | ${(vectors * 1e6).toFixed(0)} µs a chunk |`,
    `| building both indexes without a snapshot, one core | ${seconds(build * MILLION)} | ${(build * 1e6).toFixed(0)} µs a chunk |`,
    `| embedding with the built-in model, one core | ${seconds(embed * MILLION)} | ${(embed * 1e3).toFixed(1)} ms a chunk of 150 words (\`npm run bench -- embed-throughput\`) |`,
    `| a question of 3 words to all of it | ${(question * 1e3).toFixed(1)} ms of one core | with its access update |`,
  ]
}

function billion(): readonly string[] {
  const { disk, memory, put, vectors, embed, question } = costs()
  const usable = NODE.memory * NODE.filled
  const machines = Math.ceil((memory * BILLION) / usable)
  const cores = machines * NODE.cores
  const shards = BILLION / MILLION
  const all = shards * question
  return [
    '| A billion chunks | Arithmetic | Result |',
    '| --- | --- | ---: |',
    `| stores of a million | 10⁹ ÷ 10⁶ | ${shards} |`,
    `| memory | ${memory.toFixed(0)} B × 10⁹ | ${terabytes(memory * BILLION)} |`,
    `| machines of ${NODE.cores} cores and 64 GiB, three quarters filled | memory ÷ ${(usable / 2 ** 30).toFixed(0)} GiB | ${machines} |`,
    `| disk | ${disk.toFixed(0)} B × 10⁹ | ${terabytes(disk * BILLION)}; ${gigabytes((disk * BILLION) / machines)} a machine |`,
    `| taking in, vectors given | ${((put + vectors) * 1e6).toFixed(0)} µs × 10⁹ ÷ ${cores} cores | ${seconds(((put + vectors) * BILLION) / cores)} |`,
    `| embedding, once | ${(embed * 1e3).toFixed(1)} ms × 10⁹ ÷ ${cores} cores | ${seconds((embed * BILLION) / cores)} |`,
    `| a question to one holder's store of a million | as measured | ${(question * 1e3).toFixed(1)} ms of one core |`,
    `| such questions a second, all machines | ${cores} cores ÷ that | ${Math.round(cores / question).toLocaleString('en')} |`,
    `| a question to every store | ${shards} × that | ${all.toFixed(1)} s of processor time |`,
    `| at best, spread evenly over all cores | ÷ ${cores} cores | ${((all / cores) * 1e3).toFixed(0)} ms, ${(cores / all).toFixed(0)} questions a second |`,
  ]
}

/** Of the largest size. */
function largestOf(name: string): number {
  const found = scale.every.find(series => series.name === name)?.points.find(([size]) => size === largest)?.[1]
  if (found === undefined) throw new Error(`no figure "${name}" for ${largest} chunks: run npm run bench -- scale`)
  return found
}

/** Seconds of processor time a chunk, as the benchmark notes it. */
function embedding(): number {
  const report = JSON.parse(readFileSync(`${root}bench/out/report.json`, 'utf8')) as Report
  const row = report.results['embed-throughput']?.rows.find(({ name }) => name === 'passages, native')
  const found = /([\d.]+) ms of processor time/.exec(row?.note ?? '')?.[1]
  if (found === undefined) throw new Error('no figure for embedding: run npm run bench -- embed-throughput')
  return Number(found) / 1e3
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toPrecision(3)} GB`
}

function terabytes(bytes: number): string {
  return `${(bytes / 1e12).toPrecision(3)} TB`
}

function seconds(value: number): string {
  if (value < 120) return `${value.toFixed(0)} s`
  if (value < 7_200) return `${(value / 60).toFixed(0)} min`
  if (value < 172_800) return `${(value / 3_600).toFixed(1)} h`
  return `${(value / 86_400).toFixed(1)} days`
}

function show(value: number | undefined): string {
  if (value === undefined) return ''
  if (Number.isInteger(value) || Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}
