/**
 * How the whole engine's costs grow from 10,000 to a million chunks: stores of the same making in five sizes, each part in
 * a process of its own, on a copy. What takes minutes at a million (making a store, rebuilding it, the doctor) is measured
 * once, kept beside the store in bench/out with its date, and said again; `QUERENT_LONG=1` measures it anew. Writes
 * bench/out/scale.json too: series by size.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { copyOf } from './lib/kept-store.ts'
import { commit, machine, type Row } from './lib/report.ts'
import type { Part } from './lib/scale/child.ts'
import type { Figure } from './lib/scale/figures.ts'
import { type Making, SIZES, scaleHome } from './lib/scale/store.ts'

export const name = 'scale'

const QUICK_PARTS: readonly Part[] = ['load', 'ask', 'change']
const LONG_PARTS: readonly Part[] = ['rebuild', 'doctor', 'backup']

/** Beyond that the doctor, who builds every index anew and reads every page, takes too long to wait for. */
const MOST_EXAMINED = 300_000

/** What a plot of the costs shows; the page of figures and docs/scaling.md say all of it. */
const DRAWN: ReadonlySet<string> = new Set([
  ...['hybrid, 3 words', 'words only, 3 words', 'meaning only', 'hybrid, 3 words, own partition'],
  ...['hybrid, 3 words, filter keeps 5 %', 'question after an update', 'list 10 by updated'],
  ...['store file', 'memory of words, counted', 'memory of vectors, counted', 'memory, as the process grows'],
  ...['build words from the store', 'build vectors from the store', 'doctor', 'backup'],
  ...['put, without vectors', 'take given vectors', 'hybrid, 3 words, one after the other'],
])

/** Of one size. */
interface Measured {
  readonly size: number
  readonly figures: readonly Figure[]
}

/** How a cost grows: what plots are drawn from. */
interface Series {
  readonly name: string
  readonly unit: string
  readonly points: readonly (readonly [chunks: number, value: number])[]
}

export async function run(): Promise<readonly Row[]> {
  const all: Measured[] = []
  for (const size of SIZES) {
    all.push({ size, figures: await measure(size) })
    keep(all)
  }
  return all.flatMap(({ size, figures }) =>
    figures.map(({ name, unit, value, p99, note }) => {
      return { name: `${size.toLocaleString('en')} chunks: ${name}`, unit, value, p99, note }
    }),
  )
}

function keep(all: readonly Measured[]): void {
  const out = fileURLToPath(new URL('./out/scale.json', import.meta.url))
  const every = seriesOf(all)
  const series = every.filter(({ name }) => DRAWN.has(name))
  writeFileSync(out, `${JSON.stringify({ machine: machine(), commit: commit(), series, every }, null, 2)}\n`)
}

async function measure(size: number): Promise<readonly Figure[]> {
  const { folder, making } = await scaleHome(size)
  console.error(`  ${size} chunks`)
  await partOf(folder, 'freshen')
  const figures = [...makingFigures(size, making)]
  for (const part of QUICK_PARTS) figures.push(...(await onCopy(folder, part)))
  for (const part of LONG_PARTS) figures.push(...(await keptOrMeasured(folder, part, size)))
  return figures
}

function makingFigures(size: number, { put, embed, storeBytes, date, load }: Making): readonly Figure[] {
  const note = `${date.slice(0, 10)}, load ${load}`
  return [
    { name: 'put, without vectors', unit: 'chunks/s', value: size / put.seconds, note },
    { name: 'put, processor time', unit: 'µs a chunk', value: (1e6 * put.cpu) / size },
    { name: 'take given vectors', unit: 'chunks/s', value: size / embed.seconds, note },
    { name: 'take given vectors, processor time', unit: 'µs a chunk', value: (1e6 * embed.cpu) / size },
    { name: 'store file', unit: 'bytes a chunk', value: storeBytes / size },
  ]
}

async function keptOrMeasured(folder: string, part: Part, size: number): Promise<readonly Figure[]> {
  const file = join(folder, `${part}.json`)
  const isLong = Boolean(process.env['QUERENT_LONG'])
  if (!existsSync(file) && part === 'doctor' && size > MOST_EXAMINED && !isLong) {
    console.error(`  skipped: the doctor at ${size} chunks (QUERENT_LONG=1 sends for it)`)
    return []
  }
  if (!existsSync(file) || isLong) {
    const date = new Date().toISOString().slice(0, 10)
    const figures = (await onCopy(folder, part)).map(figure => ({
      ...figure,
      note: [figure.note, `measured ${date}, load ${machine().load}`].filter(Boolean).join('; '),
    }))
    writeFileSync(file, JSON.stringify(figures, null, 2))
  }
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Figure[]
}

async function onCopy(folder: string, part: Part): Promise<readonly Figure[]> {
  using copy = copyOf(folder, path => part !== 'rebuild' || statSync(path).isFile() || !path.endsWith('index'))
  return await partOf(copy.path, part)
}

async function partOf(home: string, part: Part): Promise<readonly Figure[]> {
  const child = fileURLToPath(new URL('./lib/scale/child.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, part, home])
  return JSON.parse(stdout) as readonly Figure[]
}

function seriesOf(all: readonly Measured[]): readonly Series[] {
  const series = new Map<string, { name: string; unit: string; points: [number, number][] }>()
  for (const { size, figures } of all) {
    for (const { name, unit, value, p99 } of figures) {
      add(name, unit, size, value)
      if (p99 !== undefined) add(`${name}, p99`, unit, size, p99)
    }
  }
  return [...series.values()]

  function add(name: string, unit: string, size: number, value: number): void {
    const known = series.get(name) ?? { name, unit, points: [] }
    series.set(name, known)
    known.points.push([size, value])
  }
}
