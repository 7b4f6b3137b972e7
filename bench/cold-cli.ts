/**
 * The first answer of a fresh `querent` process over 100,000 chunks, from start to exit, as a shell sees it: from the
 * built package, and for comparison from the sources. Kinds take turns. Vectors are generated, the question is embedded
 * by the real model.
 */
import { execFile } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bigHome, ENTRIES, floorOf, questions } from './lib/big-store.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timedAsync } from './lib/report.ts'

export const name = 'cold-cli'

const RUNS = quick ? 3 : 21
const root = fileURLToPath(new URL('..', import.meta.url))
const BUILT = 'bin/querent.js'
const SOURCES = 'scripts/querent.ts'

interface Kind {
  readonly name: string
  readonly args: readonly string[]
  /** Milliseconds where the floor is `REFERENCE_FLOOR_MS`: docs/decisions/017. */
  readonly goal?: number
}

const REFERENCE_FLOOR_MS = 0.24

const kinds: readonly Kind[] = [
  { name: 'node that does nothing', args: ['-e', '0'] },
  { name: 'querent --version', args: [BUILT, '--version'] },
  { name: 'words only', args: [BUILT, 'query', '--words'], goal: 150 },
  { name: 'with a query vector', args: [BUILT, 'query'], goal: 400 },
  { name: 'words only, from the sources', args: [SOURCES, 'query', '--words'] },
]

export async function run(): Promise<readonly Row[]> {
  await buildIfOld()
  using home = await bigHome()
  const texts = questions(3)
  const samples = kinds.map((): number[] => [])
  const floor = await floorOf(home)
  for (let round = 0; round <= RUNS; round++) {
    for (const [at, { args }] of kinds.entries()) {
      const question = args.includes('query') ? [texts[round] as string] : []
      const ms = await timedAsync(() => start([...args, ...question], home.folder))
      // The first round brings everything into the disk cache.
      if (round > 0) samples[at]?.push(ms)
    }
  }
  const slower = floor / REFERENCE_FLOOR_MS
  return kinds.map(({ name, goal }, at) => rowOf(name, samples[at] ?? [], goal && Math.round(goal * slower)))
}

async function start(args: readonly string[], home: string): Promise<void> {
  const env = { ...process.env, QUERENT_HOME: home, QUERENT_VIEWER: '' }
  await promisify(execFile)(process.execPath, args, { cwd: root, env })
}

/** `npm run build`, unless the built package is newer than the sources. */
async function buildIfOld(): Promise<void> {
  const built = `${root}dist/command/main.js`
  const sources = globSync(['src/**/*.ts', 'scripts/build.ts', 'package.json'], { cwd: root })
  const newest = Math.max(...sources.map(file => statSync(root + file).mtimeMs))
  if (existsSync(built) && statSync(built).mtimeMs > newest) return
  console.error('  building …')
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root })
}

function rowOf(name: string, times: readonly number[], limit: number | undefined): Row {
  const p50 = percentile(times, 0.5)
  return {
    name: `${name}, process from start to end`,
    unit: 'ms',
    value: p50,
    p50,
    ...(limit !== undefined && { goal: `p50 <= ${limit} ms`, ok: p50 <= limit }),
    note: `${times.length} runs, quickest ${Math.min(...times).toFixed(0)} ms, ${ENTRIES} chunks`,
  }
}
