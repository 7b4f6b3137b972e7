/**
 * The extractor held against the TypeScript compiler, which shares no code with it, on this repository and on packages of
 * the npm registry. A package is pinned by its version and by a hash over the names and texts of all files that are read,
 * so that a figure cannot change because others were read.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/base/canonical.ts'
import { factsOf, filesBelow, graphOf, readFiles } from '../../test/support/extracted.ts'
import { askCompiler, type CodeFacts } from '../../test/support/script-oracle.ts'

/** F1, but for calls, which are given as precision and recall. */
export interface Figures {
  readonly declarations: number
  readonly dependencies: number
  /** EXTENDS and IMPLEMENTS together; null where there are none. */
  readonly heritage: number | null
  readonly callPrecision: number
  readonly callRecall: number
}

/** CX-071. */
export const FLOORS: Figures = {
  declarations: 0.98,
  dependencies: 0.98,
  heritage: 0.97,
  callPrecision: 0.98,
  callRecall: 0.9,
}

/** CX-071: a figure may not fall by more below what was measured. */
export const MAX_FALL = 0.01

export interface Repository {
  readonly name: string
  readonly folder: string
  /** Of paths within the folder. */
  readonly paths: RegExp
  /** What the figures were measured on; null: this repository, which changes. */
  readonly pinned: { readonly version: string; readonly files: number; readonly list: string } | null
  readonly measured: Figures
}

export const OWN: Repository = {
  name: 'this repository, all of src',
  folder: 'src',
  paths: /\.ts$/,
  pinned: null,
  measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 0.999, callRecall: 0.985 },
}

export const OWN_PART: Repository = {
  ...OWN,
  name: 'this repository, a part of src',
  paths: /^(?:base|math|model|pipeline|store|text|lenses\/context)\/.*\.ts$/,
}

export const PACKAGES: readonly Repository[] = [
  {
    name: 'chrono-node, TypeScript',
    folder: 'node_modules/chrono-node/src',
    paths: /\.ts$/,
    pinned: { version: '2.10.3', files: 267, list: 'ce56d8f6819d' },
    measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 1, callRecall: 0.998 },
  },
  {
    name: 'zod, TypeScript',
    folder: 'node_modules/zod/src',
    paths: /^(?!.*(?:tests|benchmarks)\/).*\.ts$/,
    pinned: { version: '4.6.7', files: 125, list: 'c98e28231021' },
    measured: { declarations: 1, dependencies: 1, heritage: 0.998, callPrecision: 0.998, callRecall: 0.918 },
  },
  {
    name: 'commander, JavaScript with types in comments',
    folder: 'node_modules/commander/lib',
    paths: /\.js$/,
    pinned: { version: '15.1.0', files: 6, list: '00ec04e59cd2' },
    measured: { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 0.996, callRecall: 0.989 },
  },
  {
    name: 'culori, JavaScript',
    folder: 'node_modules/culori/src',
    paths: /\.js$/,
    pinned: { version: '4.0.2', files: 154, list: '31261ebfa86f' },
    measured: { declarations: 1, dependencies: 1, heritage: null, callPrecision: 0.997, callRecall: 1 },
  },
]

export interface Measured {
  readonly version: string | null
  readonly files: number
  /** Of the names and texts read, 12 hexadecimal digits. */
  readonly list: string
  readonly figures: Figures
}

const root = fileURLToPath(new URL('../..', import.meta.url))

export async function measureExtraction({ folder, paths, pinned }: Repository): Promise<Measured> {
  const at = join(root, folder)
  const read = filesBelow(at, /./).filter(path => paths.test(path))
  const texts = readFiles(at, read)
  const found = factsOf(await graphOf(texts))
  return {
    version: pinned === null ? null : versionOf(folder),
    files: read.length,
    list: listHash(texts),
    figures: compare(withoutCaveats(found), askCompiler(at, read)),
  }
}

/** What Python's `ast` says of the fixtures in Python, kept so that it is known where there is no Python too. */
export interface PythonFacts {
  readonly list: string
  readonly declarations: readonly string[]
  readonly relations: readonly string[]
}

export const PYTHON_FOLDER: string = join(root, 'test/fixtures/code/python')
export const PYTHON_KEPT: string = join(root, 'test/fixtures/code/python-ast.json')

export function pythonFacts(): PythonFacts {
  return JSON.parse(readFileSync(PYTHON_KEPT, 'utf8')) as PythonFacts
}

/** The relations that the oracle in Python knows. */
export async function extractPython(): Promise<PythonFacts> {
  const texts = readFiles(PYTHON_FOLDER, filesBelow(PYTHON_FOLDER, /\.py$/))
  const { declarations, relations } = withoutCaveats(factsOf(await graphOf(texts)))
  const known = [...relations].filter(one => / (?:DEPENDS_ON|EXTENDS|CALLS) /.test(one))
  return { list: listHash(texts), declarations: [...declarations].sort(), relations: known.sort() }
}

export async function measurePython(): Promise<Measured> {
  const [found, said] = [await extractPython(), pythonFacts()]
  const facts = ({ declarations, relations }: PythonFacts) => ({
    ...{ declarations: new Set(declarations), relations: new Set(relations) },
  })
  const files = filesBelow(PYTHON_FOLDER, /\.py$/).length
  return { version: null, files, list: found.list, figures: compare(facts(found), facts(said)) }
}

/** Notes are concepts, but none of the oracles knows them. */
function withoutCaveats({ declarations, relations }: CodeFacts): CodeFacts {
  return { declarations: new Set([...declarations].filter(one => !one.startsWith('Caveat '))), relations }
}

function listHash(texts: ReadonlyMap<string, string>): string {
  return sha256([...texts].map(([path, text]) => `${path} ${sha256(text)}`).join('\n')).slice(0, 12)
}

function versionOf(folder: string): string {
  const manifest = join(root, ...folder.split('/').slice(0, 2), 'package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version
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
