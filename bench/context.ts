/**
 * The lens context over 2,000 files of real code: those of packages that the lockfile pins, in the order of their names.
 * What one index run takes, one changed file, whole answers; how large the store is, and how much memory it takes.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../src/base/canonical.ts'
import { type OpenContext, openContext } from '../src/engine/open-context.ts'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { percentile, type Row } from './lib/report.ts'

export const name = 'context'

const quick = Boolean(process.env['QUERENT_QUICK'])
const FILES = quick ? 200 : 2_000
const CHANGES = quick ? 5 : 20
const ROUNDS = quick ? 2 : 10
/** Larger ones are bundles, not code as it is written. */
const MOST_BYTES = 60_000

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
  const before = process.memoryUsage().rss
  await using sys = await openContext({ home: join(folder.path, '.querent'), embedder: 'none', background: false })
  const first = await sys.call('/context/index')
  const report = first.result as { indexed: number; concepts: number; ms: number; files_per_second: number }
  const memory = process.memoryUsage().rss - before
  const changes = await changeFiles(sys, folder.path, files)
  const unchanged = await timed(() => sys.call('/context/index'))
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
    {
      name: 'index one changed file',
      unit: 'ms',
      value: percentile(changes, 0.5),
      p99: percentile(changes, 0.99),
      goal: 'p50 <= 100',
      ok: percentile(changes, 0.5) <= 100,
    },
    ...(await queries(sys)),
    { name: 'store', unit: 'MiB', value: mebibytes(size), note: `of ${mebibytes(bytes)} MiB of text` },
    { name: 'memory, run and graph', unit: 'MiB', value: mebibytes(memory) },
  ]
}

async function queries(sys: OpenContext): Promise<readonly Row[]> {
  const kinds = [
    ['whole bundle, exact', { mode: 'exact', snippet: 'passage', max_tokens: 4000 }],
    ['whole bundle, hybrid by closeness', { mode: 'hybrid', rank: 'closeness', snippet: 'passage', max_tokens: 4000 }],
  ] as const
  const rows: Row[] = []
  for (const [kind, params] of kinds) {
    const ask = (query: string) => timed(() => sys.call('/context/query', { query, ...params }))
    for (const query of QUESTIONS) await ask(query)
    const samples: number[] = []
    for (let round = 0; round < ROUNDS; round++) for (const query of QUESTIONS) samples.push(await ask(query))
    const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)]
    rows.push({ name: kind, unit: 'ms', value: p50, p99, goal: 'p50 <= 10, p99 <= 50', ok: p50 <= 10 && p99 <= 50 })
  }
  return rows
}

async function changeFiles(sys: OpenContext, folder: string, files: readonly string[]): Promise<readonly number[]> {
  const samples: number[] = []
  for (let at = 0; at < CHANGES; at++) {
    const file = files[(at * 97) % files.length] as string
    writeFileSync(join(folder, file), `${readFileSync(join(folder, file), 'utf8')}\nexport const added${at} = ${at}\n`)
    samples.push(await timed(() => sys.call('/context/index', { path: file })))
  }
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
      .filter(path => !path.includes('node_modules') && statSync(join(modules, path)).size <= MOST_BYTES),
  )
  const files = found.sort().slice(0, FILES)
  for (const file of files) {
    mkdirSync(join(target, dirname(file)), { recursive: true })
    cpSync(join(modules, file), join(target, file))
  }
  return files
}

async function timed(body: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await body()
  return performance.now() - before
}

function mebibytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10
}
