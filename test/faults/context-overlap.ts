/**
 * Index runs of several engines, a watcher and edits of the files at once on one store: in the end the store is what one
 * run over the final files leaves (CX-075). `Workspace` and progress events are where steps are slowed.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import type { LensHost } from '../../src/lenses/lens.ts'
import type { Workspace } from '../../src/model/workspace.ts'
import { damageIn } from '../support/damage-in.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { answersOf, rowsOf } from './context-state.ts'

/** Files that every edit picks from; their texts name each other, so that edits move links of other files. */
const FILES = 36
const VARIANTS = 5
const MAX_PAUSE_MS = 4
/** Rounds that share a store and its engines. */
const ROUNDS_A_STORE = 25

export interface OverlapFigures {
  rounds: number
  /** Index runs, and other calls that write what is known of files. */
  calls: number
  /** Runs that waited for another one. */
  waited: number
  edits: number
  /** What went wrong: errors of calls, and rounds after which the store is another one than a fresh one. */
  wrong: string[]
}

type Random = () => number

export async function overlapContext(rounds: number, seed: number): Promise<OverlapFigures> {
  const random = seededUniform(seed)
  const figures: OverlapFigures = { rounds: 0, calls: 0, waited: 0, edits: 0, wrong: [] }
  while (figures.rounds < rounds) {
    await withStore(Math.min(ROUNDS_A_STORE, rounds - figures.rounds), random, figures)
  }
  return figures
}

async function withStore(rounds: number, random: Random, figures: OverlapFigures): Promise<void> {
  using folder = tempFolder()
  const files = new EditedFiles(folder.path)
  for (let at = 0; at < FILES; at += 2) files.write(at, 0)
  const home = join(folder.path, '.querent')
  // Opened at the same moment: each may be the one that makes the store.
  const engines = await Promise.all([0, 1, 2, 3].map(() => openEngine({ home, create: true, ...PLAIN })))
  try {
    await Promise.all(engines.map(engine => contextOn(engine, random).call('/body/init')))
    for (let round = 0; round < rounds; round++, figures.rounds++) {
      const label = `round ${figures.rounds}`
      await oneRound(engines, files, random, figures, label)
      figures.wrong.push(...(await differences(engines[0] as Engine, folder.path)).map(line => `${label}: ${line}`))
    }
  } finally {
    for (const engine of engines) await engine.close()
  }
}

export const PLAIN = { embedder: 'none', background: false, onlyLenses: ['context'] } as const

async function oneRound(
  engines: readonly Engine[],
  files: EditedFiles,
  random: Random,
  figures: OverlapFigures,
  label: string,
): Promise<void> {
  const call = async (engine: Engine, path: string, params: object): Promise<void> => {
    figures.calls++
    const { errors, result } = await contextOn(engine, random).call(path, params)
    // A file may be gone by the time it is read: then the answer has a result and an error.
    if (result === null) figures.wrong.push(`${label}: ${path} ${JSON.stringify(params)}: ${JSON.stringify(errors)}`)
    if (Number(result?.['waited_ms'] ?? 0) > 0) figures.waited++
  }
  const changed: string[] = []
  let isEditing = true
  const editing = async () => {
    for (let left = 2 + Math.floor(random() * 8); left > 0; left--) {
      await sleep(random() * 4 * MAX_PAUSE_MS)
      changed.push(...files.edit(random))
      figures.edits++
    }
    isEditing = false
  }
  /** As `context index --watch` does: what changed since its last run, until nothing more comes. */
  const watching = async (engine: Engine) => {
    while (isEditing || changed.length > 0) {
      const paths = changed.splice(0)
      if (paths.length > 0) await call(engine, '/context/index', { paths })
      else await sleep(1)
    }
  }
  const [watcher, ...others] = engines.slice(0, 2 + Math.floor(random() * 3))
  const runs = others.flatMap(engine =>
    Array.from({ length: 1 + Math.floor(random() * 2) }, async () => {
      await sleep(random() * 10 * MAX_PAUSE_MS)
      await call(engine, ...oneCall(random))
    }),
  )
  await Promise.all([editing(), watching(watcher as Engine), ...runs])
  // What a run that began before the last edit has read may be older than that edit: with one run alone too.
  await Promise.all(engines.slice(0, 2).map(engine => call(engine, '/context/index', {})))
}

function oneCall(random: Random): [string, object] {
  const at = random()
  if (at < 0.5) return ['/context/index', {}]
  if (at < 0.6) return ['/context/index', { force: true }]
  if (at < 0.8) return ['/context/index', { path: 'lib' }]
  if (at < 0.88) return ['/body/scan', {}]
  if (at < 0.94) return ['/body/files/add', { path: '.' }]
  return ['/body/fts/index', { force: true }]
}

/** As the engine's own host, with pauses wherever a run waits for the disk. */
function contextOn(engine: Engine, random: Random): Context {
  const known = CONTEXTS.get(engine)
  if (known !== undefined) return known
  const host = engine.host('context')
  const made = new Context({ ...host, workspace: slowed(host.workspace as Workspace, random) } satisfies LensHost)
  CONTEXTS.set(engine, made)
  return made
}

const CONTEXTS = new WeakMap<Engine, Context>()

function slowed(workspace: Workspace, random: Random): Workspace {
  const pause = () => sleep(random() * MAX_PAUSE_MS)
  return {
    url: workspace.url,
    storeFile: workspace.storeFile,
    urlOf: path => workspace.urlOf(path),
    mark: (url, signal) => workspace.mark(url, signal),
    async read(url) {
      if (random() < 0.3) await pause()
      const file = await workspace.read(url)
      if (random() < 0.1) await pause()
      return file
    },
    async *list(path, signal, leftOut) {
      for await (const url of workspace.list(path, signal, leftOut)) {
        if (random() < 0.05) await pause()
        yield url
      }
    },
  }
}

class EditedFiles {
  readonly #folder: string
  readonly #there = new Set<number>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Writes, removes or renames; the paths that a watcher would name. */
  edit(random: Random): readonly string[] {
    const at = Math.floor(random() * FILES)
    const kind = random()
    if (!this.#there.has(at) || kind < 0.6) return [this.write(at, Math.floor(random() * VARIANTS))]
    this.#there.delete(at)
    const path = nameOf(at)
    const to = Math.floor(random() * FILES)
    if (kind < 0.8 || to === at) {
      rmSync(join(this.#folder, path))
      return [path]
    }
    this.#there.add(to)
    mkdirSync(dirname(join(this.#folder, nameOf(to))), { recursive: true })
    renameSync(join(this.#folder, path), join(this.#folder, nameOf(to)))
    return [path, nameOf(to)]
  }

  write(at: number, variant: number): string {
    this.#there.add(at)
    const path = nameOf(at)
    mkdirSync(dirname(join(this.#folder, path)), { recursive: true })
    writeFileSync(join(this.#folder, path), textOf(at, variant))
    return path
  }
}

function nameOf(at: number): string {
  const folder = at % 3 === 0 ? 'lib/' : ''
  if (at % 9 === 4) return `${folder}n${at}.md`
  return at % 9 === 8 ? `${folder}p${at}.py` : `${folder}f${at}.ts`
}

function textOf(at: number, variant: number): string {
  const other = (at * 5 + variant * 7 + 1) % FILES
  if (nameOf(at).endsWith('.md')) return `# Notes ${at}\nSee \`made${other}\` and [that](${nameOf(other)}).\n`
  if (nameOf(at).endsWith('.py')) return `import os\nclass P${at}:\n    def made${variant}(self): return os.path\n`
  if (variant === 4) return `export { made${other} as made${at} } from '${from(at, other)}'\n`
  const more = Array.from({ length: variant }, (_, n) => `export class C${n}of${at} { go() { return made${at}() } }\n`)
  return `import { made${other} } from '${from(at, other)}'
import pad from 'pad${variant}'
/** Makes ${at} in way ${variant}. */
export function made${at}() { return pad(made${other}()) }
${more.join('')}`
}

function from(at: number, other: number): string {
  const up = at % 3 === 0 ? '../' : './'
  return `${up}${nameOf(other).replace(/\.ts$/, '')}`
}

/** Where the store differs from that of one run over the files as they are now. */
export async function differences(engine: Engine, folder: string): Promise<readonly string[]> {
  const home = join(folder, '.fresh')
  await using fresh = await openEngine({ home, create: true, ...PLAIN })
  try {
    const { errors } = await new Context(fresh.host('context')).call('/context/index')
    if (errors !== null) return [`the fresh run: ${JSON.stringify(errors)}`]
    return [
      ...compared(rowsOf(engine.host('context')), rowsOf(fresh.host('context'))),
      ...compared(await answersOf(engine.host('context')), await answersOf(fresh.host('context'))),
      ...(await damageIn(engine.host('context').store)),
      ...(await engine.doctor()).findings.filter(({ ok }) => !ok).map(({ check, message }) => `${check}: ${message}`),
    ]
  } finally {
    rmSync(home, { recursive: true })
  }
}

/** The first few lines that only one of them has. */
function compared(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const there = new Set(found)
  const should = new Set(wanted)
  return [
    ...wanted.filter(line => !there.has(line)).map(line => `lacks ${line}`),
    ...found.filter(line => !should.has(line)).map(line => `has ${line}`),
    ...(found.length === wanted.length ? [] : [`${found.length} lines, not ${wanted.length}`]),
  ].map(line => line.slice(0, 300))
}
