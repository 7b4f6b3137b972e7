/**
 * Resolves imports of TypeScript and JavaScript, in this order: relative path; `paths` and `baseUrl` of the nearest tsconfig.json;
 * `imports` of the nearest package.json; packages of the workspace by name and `exports`; else an external package. Also reads the files
 * with these settings: package.json, tsconfig.json, jsconfig.json and go.mod.
 */

import { isRecord } from '../../../../base/record.ts'
import type { ModuleSettings } from '../concept.ts'
import { type Facts, folderOf, foldersAbove, inFolder, join, type Module } from './modules.ts'

const ENDINGS = ['.ts', '.tsx', '.d.ts', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']
/** For each file ending in an import, which names a compiled file, the endings that the source file may have: `.js` may mean `.ts`. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
}
/** Largest number of tsconfig.json files, connected by `extends` and `references`, that are examined to resolve one name. */
const MAX_SETTINGS = 100

/** The module that an import refers to; null when the file does not exist or was not read. */
export function scriptModule(from: string, specifier: string, facts: Facts): Module | null {
  const name = specifier.replace(/[?].*$/s, '')
  if (/^\.{0,2}\/|^\.{1,2}$/.test(name)) return relative(from, name, facts)
  if (/^[a-z][a-z+]+:/.test(name)) return name.startsWith('node:') ? { package: name.split('/')[0] as string } : null
  return (
    (name.startsWith('#') ? privateImport(from, name, facts) : null) ??
    byCompilerPaths(from, name, facts) ??
    byWorkspace(name, facts) ??
    outside(name)
  )
}

function relative(from: string, name: string, facts: Facts): Module | null {
  const path = name.startsWith('/') ? join('', name) : join(folderOf(from), name)
  return path === null ? null : fileOrFolder(path, facts)
}

function fileOrFolder(path: string, facts: Facts): Module | null {
  return file(path, facts) ?? folder(path, facts)
}

function file(path: string, facts: Facts): Module | null {
  if (path === '') return null
  if (facts.has(path)) return { path }
  const ending = /\.[cm]?jsx?$/.exec(path)?.[0] ?? ''
  const stem = path.slice(0, path.length - ending.length)
  for (const source of SOURCES[ending] ?? []) if (facts.has(stem + source)) return { path: stem + source }
  for (const tried of ENDINGS) if (facts.has(path + tried)) return { path: path + tried }
  return null
}

function folder(path: string, facts: Facts): Module | null {
  const manifest = inFolder(path, 'package.json')
  const settings = facts.has(manifest) ? facts.surface(manifest)?.settings : undefined
  for (const entry of settings?.entry ?? []) {
    const target = join(path, entry)
    const found = target === null ? null : (file(target, facts) ?? file(inFolder(target, 'index'), facts))
    if (found !== null) return found
  }
  return file(inFolder(path, 'index'), facts)
}

function byCompilerPaths(from: string, name: string, facts: Facts): Module | null {
  for (const above of foldersAbove(from)) {
    for (const config of ['tsconfig.json', 'jsconfig.json']) {
      const path = inFolder(above, config)
      if (facts.has(path)) return byCompilerSettings(path, name, facts, new Set())
    }
  }
  return null
}

/**
 * Resolves a name by `paths` and `baseUrl` of a tsconfig.json; settings in the file itself take precedence over those of files that it
 * names in `extends` or `references`.
 */
function byCompilerSettings(config: string, name: string, facts: Facts, seen: Set<string>): Module | null {
  if (seen.has(config) || seen.size === MAX_SETTINGS) return null
  seen.add(config)
  const settings = facts.surface(config)?.settings
  if (settings?.kind !== 'compiler') return null
  const base = join(folderOf(config), settings.baseUrl ?? '.')
  const targets = settings.paths === undefined ? [] : patternTargets(settings.paths, name)
  if (settings.baseUrl !== undefined) targets.push(name)
  for (const target of targets) {
    const path = base === null ? null : join(base, target)
    const found = path === null ? null : fileOrFolder(path, facts)
    if (found !== null) return found
  }
  // A tsconfig.json may extend several files, or refer to one file for each group of source files.
  for (const other of [...(settings.extends ?? []), ...(settings.references ?? [])]) {
    const path = join(folderOf(config), other)
    for (const tried of path === null ? [] : [path, `${path}.json`, inFolder(path, 'tsconfig.json')]) {
      const found = facts.has(tried) ? byCompilerSettings(tried, name, facts, seen) : null
      if (found !== null) return found
    }
  }
  return null
}

function privateImport(from: string, name: string, facts: Facts): Module | null {
  for (const above of foldersAbove(from)) {
    const manifest = inFolder(above, 'package.json')
    if (!facts.has(manifest)) continue
    const settings = facts.surface(manifest)?.settings
    return firstFile(above, mappedTargets(settings?.imports, name), facts)
  }
  return null
}

function byWorkspace(name: string, facts: Facts): Module | null {
  const { root, rest } = packageName(name)
  for (const manifest of facts.packagesNamed(root)) {
    const settings = facts.surface(manifest)?.settings
    const found = settings?.kind !== 'package' ? null : ofPackage(folderOf(manifest), settings, rest, facts)
    if (found !== null) return found
  }
  return null
}

function ofPackage(at: string, settings: ModuleSettings, rest: string, facts: Facts): Module | null {
  if (settings.exports !== undefined) {
    const found = firstFile(at, mappedTargets(settings.exports, rest === '' ? '.' : `.${rest}`), facts)
    if (found !== null) return found
  }
  if (rest === '')
    return firstFile(at, settings.entry ?? [], facts) ?? folder(at, facts) ?? folder(inFolder(at, 'src'), facts)
  const path = join(at, `.${rest}`)
  return path === null ? null : fileOrFolder(path, facts)
}

/**
 * The first target that is a file of the workspace. A target in a build folder (`dist`, `lib`, `build`, `out`) is seldom in the workspace,
 * so its source is also searched in `src`.
 */
function firstFile(at: string, targets: readonly string[], facts: Facts): Module | null {
  for (const target of targets) {
    for (const tried of [target, target.replace(/^(\.\/)?(?:dist|lib|build|out)\//, '$1src/')]) {
      const path = join(at, tried)
      const found = path === null ? null : file(path, facts)
      if (found !== null) return found
    }
  }
  return null
}

function outside(name: string): Module | null {
  const { root } = packageName(name)
  return /^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(root) ? { package: root } : null
}

/** Splits an import into the package's name and the rest: `@scope/name/deep/file` gives `@scope/name` and `/deep/file`. */
function packageName(name: string): { readonly root: string; readonly rest: string } {
  const parts = name.split('/')
  const root = parts.slice(0, name.startsWith('@') ? 2 : 1).join('/')
  return { root, rest: name.slice(root.length) }
}

/** Conditions of `exports` in package.json, in order of preference: sources and types come before compiled code, since they say more. */
const CONDITIONS = ['source', 'types', 'import', 'module', 'node', 'default', 'require']
/** Largest depth of nested conditions in `exports` of a package.json that is read. */
const MAX_CONDITIONS = 6

/**
 * Targets to which a package.json maps a name. `map`: value of `exports` or `imports`, which may have any shape; `name`: `.`, `./x` or
 * `#x`.
 */
function mappedTargets(map: unknown, name: string): string[] {
  if (!isRecord(map)) return name === '.' ? conditionTargets(map, MAX_CONDITIONS) : []
  if (!Object.keys(map).some(key => /^[.#]/.test(key))) return name === '.' ? conditionTargets(map, MAX_CONDITIONS) : []
  if (Object.hasOwn(map, name)) return conditionTargets(map[name], MAX_CONDITIONS)
  for (const key of longestFirst(Object.keys(map))) {
    const filling = fill(key, name)
    if (filling !== null)
      return conditionTargets(map[key], MAX_CONDITIONS).map(target => target.replaceAll('*', filling))
  }
  return []
}

/** The targets of the longest pattern in `paths` that matches the name. */
function patternTargets(paths: Readonly<Record<string, readonly string[]>>, name: string): string[] {
  if (Object.hasOwn(paths, name)) return [...(paths[name] ?? [])]
  for (const key of longestFirst(Object.keys(paths))) {
    const filling = fill(key, name)
    if (filling !== null) return (paths[key] ?? []).map(target => target.replace('*', () => filling))
  }
  return []
}

/** The part of the name that the star in the pattern matches; null where the name does not match the pattern. */
function fill(pattern: string, name: string): string | null {
  const star = pattern.indexOf('*')
  if (star < 0) return null
  const [front, back] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const fits = name.length >= front.length + back.length && name.startsWith(front) && name.endsWith(back)
  return fits ? name.slice(front.length, name.length - back.length) : null
}

function longestFirst(patterns: string[]): string[] {
  return patterns.sort((a, b) => b.indexOf('*') - a.indexOf('*') || (a < b ? -1 : 1))
}

function conditionTargets(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value]
  if (depth === 0) return []
  if (Array.isArray(value)) return value.flatMap(one => conditionTargets(one, depth - 1))
  if (!isRecord(value)) return []
  return CONDITIONS.flatMap(key => (Object.hasOwn(value, key) ? conditionTargets(value[key], depth - 1) : []))
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Largest depth of nested conditions that is stored. A file may nest them so deep that converting them to JSON would overflow the stack.
 */
const MAX_NESTED = 10

/**
 * The settings for finding modules that a file contains; null for a file of another kind, or one that is not JSON of the expected shape.
 */
export function moduleSettings(path: string, text: string): ModuleSettings | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name === 'go.mod') return goSettings(text)
  const isCompiler = /^(?:ts|js)config(?:\..+)?\.json$/.test(name)
  if (!isCompiler && name !== 'package.json') return null
  const value = parse(text)
  if (value === null) return null
  return isCompiler ? compilerSettings(value) : packageSettings(value)
}

/** Reads a go.mod file: the module path, with which imports of its packages begin. */
function goSettings(text: string): ModuleSettings | null {
  const name = /^module[ \t]+"?([^\s"]+)/m.exec(text)?.[1]
  return name === undefined ? null : { kind: 'go', name }
}

function packageSettings(value: Fields): ModuleSettings {
  const entry = ['source', 'types', 'typings', 'module', 'main'].map(key => value[key]).filter(isText)
  return {
    kind: 'package',
    ...(isText(value['name']) ? { name: value['name'] } : {}),
    ...(entry.length > 0 ? { entry } : {}),
    ...(value['exports'] === undefined ? {} : { exports: shallow(value['exports'], MAX_NESTED) }),
    ...(value['imports'] === undefined ? {} : { imports: shallow(value['imports'], MAX_NESTED) }),
  }
}

function compilerSettings(value: Fields): ModuleSettings {
  const options = isRecord(value['compilerOptions']) ? value['compilerOptions'] : {}
  const paths = isRecord(options['paths']) ? options['paths'] : null
  const above = [value['extends']].flat().filter(isText)
  const beside = [value['references']].flat().map(one => (isRecord(one) ? one['path'] : null))
  const references = beside.filter(isText)
  return {
    kind: 'compiler',
    ...(isText(options['baseUrl']) ? { baseUrl: options['baseUrl'] } : {}),
    ...(paths === null
      ? {}
      : { paths: Object.fromEntries(Object.entries(paths).map(([key, to]) => [key, [to].flat().filter(isText)])) }),
    ...(above.length > 0 ? { extends: above } : {}),
    ...(references.length > 0 ? { references } : {}),
  }
}

/** Parses JSON that may have comments and trailing commas, as tsconfig.json files do. */
function parse(text: string): Fields | null {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, part => (part.startsWith('"') ? part : ' '))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, part => (part.startsWith('"') ? part : ''))
  try {
    const value: unknown = JSON.parse(plain)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** The value with the parts that are nested too deep replaced by null. */
function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map(one => shallow(one, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shallow(one, depth - 1)]))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
