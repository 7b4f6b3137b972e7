/**
 * How the whole engine's costs grow from 10,000 to a million chunks: stores of the same making in five sizes, each part in
 * a process of its own, on a copy. What takes minutes at a million (making a store, rebuilding it, the doctor) is measured
 * once, kept beside the store in bench/out with its date, and repeated; `QUERENT_LONG=1` measures it again.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { copyOf } from './lib/kept-store.ts'
import { machine, type Row } from './lib/report.ts'
import type { Part } from './lib/scale/child.ts'
import type { Figure } from './lib/scale/figures.ts'
import { type Making, SIZES, scaleHome } from './lib/scale/store.ts'

export const name = 'scale'

const QUICK_PARTS: readonly Part[] = ['load', 'ask', 'change']
const LONG_PARTS: readonly Part[] = ['rebuild', 'doctor', 'backup']

/** Beyond that the doctor, who builds every index again and reads every page, takes too long to wait for. */
const MAX_EXAMINED = 300_000

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const size of SIZES) {
    for (const figure of await measure(size))
      rows.push({ ...figure, name: `${size.toLocaleString('en')} chunks: ${figure.name}` })
  }
  return rows
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
  if (!existsSync(file) && part === 'doctor' && size > MAX_EXAMINED && !isLong) {
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
