/**
 * The extractor against oracles that share no code with it: the TypeScript compiler on this repository and on installed
 * packages, Python's `ast` on a small repository of fixtures. Packages are pinned by version and number of files, so that
 * a figure cannot change because others were read. `QUERENT_LONG=1` reads all of this repository's src.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { factsOf, filesBelow, graphOf, readFiles } from '../support/extracted.ts'
import { askCompiler, type CodeFacts } from '../support/script-oracle.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** As measured; F1 but for calls, which are given as precision and recall. */
interface Figures {
  readonly declarations: number
  readonly dependencies: number
  /** EXTENDS and IMPLEMENTS together; null where there are none. */
  readonly heritage: number | null
  readonly callPrecision: number
  readonly callRecall: number
}

const FLOORS: Figures = {
  declarations: 0.98,
  dependencies: 0.98,
  heritage: 0.97,
  callPrecision: 0.9,
  callRecall: 0.75,
}
/** CX-071: a figure may not fall by more. */
const MAX_FALL = 0.01

const isLong = process.env['QUERENT_LONG'] === '1'

interface Repository {
  readonly name: string
  readonly folder: string
  /** Of paths within the folder. */
  readonly paths: RegExp
  readonly version: string | null
  readonly files: number | null
  readonly measured: Figures
}

const REPOSITORIES: readonly Repository[] = [
  {
    name: isLong ? 'this repository, all of src' : 'this repository, a part of src (all of it with QUERENT_LONG=1)',
    folder: 'src',
    paths: isLong ? /\.ts$/ : /^(?:base|math|model|pipeline|store|text|lenses\/context)\/.*\.ts$/,
    version: null,
    files: null,
    measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 0.999, callRecall: 0.99 },
  },
  {
    name: 'chrono-node, TypeScript',
    folder: 'node_modules/chrono-node/src',
    paths: /\.ts$/,
    version: '2.10.3',
    files: 267,
    measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 1, callRecall: 0.998 },
  },
  {
    name: 'commander, JavaScript with types in comments',
    folder: 'node_modules/commander/lib',
    paths: /\.js$/,
    version: '15.1.0',
    files: 6,
    measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 0.996, callRecall: 0.989 },
  },
  {
    name: 'culori, JavaScript',
    folder: 'node_modules/culori/src',
    paths: /\.js$/,
    version: '4.0.2',
    files: 154,
    measured: { declarations: 1, dependencies: 1, heritage: null, callPrecision: 0.997, callRecall: 1 },
  },
]

describe('concepts and relations against the TypeScript compiler (CX-058, CX-059, CX-065, CX-070, CX-071)', () => {
  it.each(REPOSITORIES)(
    '$name',
    async ({ folder, paths, version, files, measured }) => {
      const at = join(root, folder)
      const read = filesBelow(at, /./).filter(path => paths.test(path))
      if (version !== null) {
        const manifest = join(root, folder.split('/').slice(0, 2).join('/'), 'package.json')
        const { version: installed } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
        expect(installed, 'measure the package again and write its figures down here').toBe(version)
        expect(read.length).toBe(files)
      }
      const found = factsOf(await graphOf(readFiles(at, read)))
      const figures = compare(withoutCaveats(found), askCompiler(at, read))
      mustHold(figures, measured)
    },
    120_000,
  )
})

const python = spawnSync('python3', ['-c', 'import ast'], { stdio: 'ignore' }).status === 0

describe.skipIf(!python)(
  `concepts and relations against Python's ast (CX-060, CX-070)${python ? '' : ' (skipped: there is no python3)'}`,
  () => {
    it('finds all of the fixture repository, and nothing else', async () => {
      const at = join(root, 'test/fixtures/code/python')
      const files = filesBelow(at, /\.py$/)
      const oracle = join(root, 'test/support/python-oracle.py')
      const said = JSON.parse(execFileSync('python3', [oracle, at, ...files], { encoding: 'utf8' })) as {
        declarations: string[]
        relations: string[]
      }
      const found = withoutCaveats(factsOf(await graphOf(readFiles(at, files))))
      expect([...found.declarations].sort()).toEqual(said.declarations.sort())
      const relations = [...found.relations].filter(one => / (?:DEPENDS_ON|EXTENDS|CALLS) /.test(one))
      expect(relations.sort()).toEqual(said.relations.sort())
      expect(said.declarations.length).toBeGreaterThan(30)
    })
  },
)

function mustHold(figures: Figures, measured: Figures): void {
  for (const name of Object.keys(FLOORS) as (keyof Figures)[]) {
    const [figure, floor, before] = [figures[name], FLOORS[name], measured[name]]
    if (before === null) {
      expect(figure, `${name}: none was there when it was measured`).toBeNull()
      continue
    }
    expect(figure, `${name}: the floor`).toBeGreaterThanOrEqual(floor as number)
    expect(figure, `${name}: no more than ${MAX_FALL} below what was measured`).toBeGreaterThanOrEqual(
      before - MAX_FALL,
    )
  }
}

function compare(found: CodeFacts, said: CodeFacts): Figures {
  const calls = score(of(found, 'CALLS'), of(said, 'CALLS'))
  const foundHeritage = new Set([...of(found, 'EXTENDS'), ...of(found, 'IMPLEMENTS')])
  const saidHeritage = new Set([...of(said, 'EXTENDS'), ...of(said, 'IMPLEMENTS')])
  return {
    declarations: score(found.declarations, said.declarations).f1,
    dependencies: score(of(found, 'DEPENDS_ON'), of(said, 'DEPENDS_ON')).f1,
    heritage: saidHeritage.size + foundHeritage.size === 0 ? null : score(foundHeritage, saidHeritage).f1,
    callPrecision: calls.precision,
    callRecall: calls.recall,
  }
}

function score(found: ReadonlySet<string>, said: ReadonlySet<string>) {
  const right = [...found].filter(one => said.has(one)).length
  const precision = right / found.size
  const recall = right / said.size
  return { precision, recall, f1: (2 * precision * recall) / (precision + recall) }
}

function of({ relations }: CodeFacts, relation: string): ReadonlySet<string> {
  return new Set([...relations].filter(one => one.includes(` ${relation} `)))
}

/** Notes are concepts, but none of the oracles knows them. */
function withoutCaveats({ declarations, relations }: CodeFacts): CodeFacts {
  return { declarations: new Set([...declarations].filter(one => !one.startsWith('Caveat '))), relations }
}
