/**
 * The lens context over 2,000 files of real code: those of packages that the lockfile pins, in the order of their names.
 * What one index run takes, one changed file (also for an engine that was just opened, and for a process that just
 * started), whole answers; how large the store is, and how much memory it takes.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sha256 } from '../src/base/canonical.ts'
import { EDGES } from '../src/lenses/context/tables.ts'
import { type OpenContext, openContext } from '../src/openings/context.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { quick } from './lib/quick.ts'
import { percentile, type Row, timedAsync } from './lib/report.ts'

export const name = 'context'

const FILES = quick ? 200 : 2_000
const CHANGES = quick ? 5 : 20
const PROCESSES = quick ? 2 : 7
const ROUNDS = quick ? 2 : 10
/** Larger ones are bundles, not code as it is written. */
const MAX_BYTES = 60_000

const PACKAGES = [
  'zod',
  'hono',
  'fast-check',
  'culori',
  'yaml',
  'commander',
  'onnxruntime-web',
  'typescript',
  '@types',
  'vitest',
]

const QUESTIONS = [
  'parse schema',
  'router match path',
  'string validation error',
  'arbitrary integer',
  'color interpolation',
  'document node',
  'command option',
  'middleware',
  'cookie',
  'shrink value',
]

export async function run(): Promise<readonly Row[]> {
  using folder = tempFolder()
  const files = copyFiles(folder.path)
  const home = join(folder.path, '.querent')
  const before = process.memoryUsage().rss
  await using sys = await openContext({ home, embedder: 'none', background: false })
  let peak = 0
  const first = await sys.call('/context/index', {}, () => {
    peak = Math.max(peak, process.memoryUsage().rss)
  })
  const report = first.result as { indexed: number; concepts: number; ms: number; files_per_second: number }
  const changer = new Changer(folder.path)
  const spread = Array.from({ length: CHANGES }, (_, at) => files[(at * 97) % files.length] as string)
  const changes = await inTurn(spread, file => changer.change(sys, file))
  const hub = await maxImported(sys)
  const hubs = await inTurn(Array(CHANGES).fill(hub.path), file => changer.change(sys, file))
  const opened = await inTurn(spread, async file => {
    await using fresh = await openContext({ home, embedder: 'none', background: false })
    return await changer.change(fresh, file)
  })
  const started = await inTurn(spread.slice(0, PROCESSES), file => changer.start(file))
  const unchanged = await timedAsync(() => sys.call('/context/index'))
  const size = readdirSync(join(folder.path, '.querent'))
    .filter(file => file.startsWith('store.db'))
    .reduce((sum, file) => sum + statSync(join(folder.path, '.querent', file)).size, 0)
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder.path, file)).size, 0)
  const list = sha256(files.join('\n')).slice(0, 12)
  return [
    {
      name: `index ${report.indexed} files (${report.concepts} concepts, ${mebibytes(bytes)} MiB, list ${list})`,
      unit: 'files/s',
      value: report.files_per_second,
      goal: '>= 100',
      ok: report.files_per_second >= 100,
    },
    { name: 'index again, nothing changed', unit: 'ms', value: unchanged },
    changed('index one changed file', changes),
    changed(`index one changed file that ${hub.importers} import`, hubs),
    changed('index one changed file, engine just opened', opened),
    {
      name: 'index one changed file, a process from start to exit',
      unit: 'ms',
      value: percentile(started, 0.5),
      p99: percentile(started, 0.99),
      note: 'starting Node, the parser and its grammar is all but a tenth of it',
    },
    ...(await queries(sys)),
    { name: 'store', unit: 'MiB', value: mebibytes(size), note: `of ${mebibytes(bytes)} MiB of text` },
    {
      name: 'memory at most during the first run, beyond that before it',
      unit: 'MiB',
      value: mebibytes(peak - before),
    },
  ]
}

async function queries(sys: OpenContext): Promise<readonly Row[]> {
  const kinds = [
    ['whole bundle, exact', { mode: 'exact', snippet: 'passage', max_tokens: 4000 }],
    ['whole bundle, hybrid', { mode: 'hybrid', snippet: 'passage', max_tokens: 4000 }],
  ] as const
  const rows: Row[] = []
  for (const [kind, params] of kinds) {
    const ask = (query: string) => timedAsync(() => sys.call('/context/query', { query, ...params }))
    for (const query of QUESTIONS) await ask(query)
    const samples: number[] = []
    for (let round = 0; round < ROUNDS; round++) for (const query of QUESTIONS) samples.push(await ask(query))
    const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)]
    rows.push({ name: kind, unit: 'ms', value: p50, p99, goal: 'p50 <= 10, p99 <= 50', ok: p50 <= 10 && p99 <= 50 })
  }
  return rows
}

function changed(name: string, samples: readonly number[]): Row {
  const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)]
  return { name, unit: 'ms', value: p50, p99, goal: 'p99 <= 100', ok: p99 <= 100 }
}

/** Every change adds an export, so that files that import the changed one are linked again. */
class Changer {
  readonly #folder: string
  #changes = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  change(sys: OpenContext, path: string): Promise<number> {
    this.#write(path)
    return timedAsync(async () => {
      const { result } = await sys.call('/context/index', { path })
      if (result?.['indexed'] !== 1) throw new Error(`${path} was not read`)
    })
  }

  start(path: string): Promise<number> {
    this.#write(path)
    const program = fileURLToPath(new URL('../scripts/querent.ts', import.meta.url))
    const env = { ...process.env, QUERENT_EMBEDDER: 'none' }
    return timedAsync(() =>
      promisify(execFile)(process.execPath, [program, 'context', 'index', path], { cwd: this.#folder, env }),
    )
  }

  #write(path: string): void {
    const file = join(this.#folder, path)
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nexport const added${this.#changes} = ${this.#changes++}\n`)
  }
}

async function maxImported(sys: OpenContext): Promise<{ readonly path: string; readonly importers: number }> {
  const counts = new Map<number, number>()
  for (const { target } of sys.engine.host('context').store.table(EDGES).scan({ relation: 'DEPENDS_ON' })) {
    counts.set(target as number, (counts.get(target as number) ?? 0) + 1)
  }
  for (const [id, importers] of [...counts].sort(([, a], [, b]) => b - a)) {
    const { result } = await sys.call('/mind/concepts/get', { id })
    const { name, type } = result as { name: string; type: string }
    if (type === 'Module') return { path: name, importers }
  }
  throw new Error('no file imports another')
}

async function inTurn<T>(all: readonly T[], body: (one: T) => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = []
  for (const one of all) samples.push(await body(one))
  return samples
}

/** Relative paths, in order. */
function copyFiles(target: string): readonly string[] {
  const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))
  const found = PACKAGES.flatMap(name =>
    readdirSync(join(modules, name), { recursive: true, withFileTypes: true })
      .filter(
        entry => entry.isFile() && /\.(?:[cm]?js|ts|tsx)$/.test(entry.name) && !/\.min\.|\.d\.cts$/.test(entry.name),
      )
      .map(entry => relative(modules, join(entry.parentPath, entry.name)))
      .filter(path => !path.includes('node_modules') && statSync(join(modules, path)).size <= MAX_BYTES),
  )
  const files = found.sort().slice(0, FILES)
  for (const file of files) {
    mkdirSync(join(target, dirname(file)), { recursive: true })
    cpSync(join(modules, file), join(target, file))
  }
  return files
}

function mebibytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10
}
