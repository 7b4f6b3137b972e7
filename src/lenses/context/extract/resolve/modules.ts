/**
 * Resolves the name of a module to a file of the workspace or to an external package, in every language except TypeScript and JavaScript
 * (`script-modules.ts`). Also defines the questions about files that resolving may ask.
 */
import { isUndeclared, type Language, OWN_PACKAGE, type Reference, type Surface } from '../concept.ts'

export interface ConceptPlace {
  readonly path: string
  readonly key: string
}

export interface Facts {
  /** What other files can see of the file at this path (exports, names, types); null when there is no such file, or it was not read. */
  surface(path: string): Surface | null
  has(path: string): boolean
  /** Paths of the package.json files that give this package name, sorted. */
  packagesNamed(name: string): readonly string[]
  /**
   * Paths of files that declare a concept of code with this name or qualified name, in any order. Names are compared by hash, so a few
   * others may be among them.
   */
  pathsNamed(name: string): readonly string[]
  /** The only concept of code with this name or qualified name; null when there is none or more than one. */
  conceptNamed(name: string): ConceptPlace | null
}

/**
 * The module to which a name in an import was resolved: a file, or a package. A package of the workspace may have several files; `fileOf`
 * then gives the file that declares a name (null: uncertain).
 */
export type Module =
  | { readonly path: string }
  | { readonly package: string; readonly fileOf?: (name: string) => string | null }

type FindModule = (from: string, specifier: string, facts: Facts) => Module | null

export const MODULES: Partial<Record<Language, FindModule>> = {
  go: goModule,
  java: javaModule,
  rust: rustModule,
  python: pythonModule,
  c: included,
  cpp: included,
  csharp: (_, specifier) => ({ package: specifier }),
  ruby: (from, specifier, facts) => beside(from, specifier, ['', '.rb'], facts, specifier.split('/')[0] as string),
  php: (from, specifier, facts) => beside(from, specifier, ['', '.php'], facts, specifier),
}

// Paths of files in a workspace, relative to its root, with forward slashes and without `.` and `..`; the root itself is ''.

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}

/** Joins a folder and a relative path; null when the result lies outside the workspace. */
export function join(folder: string, relative: string): string | null {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.join('/')
}

/** The folder of a file and all its parent folders, the nearest first and the workspace's root last. */
export function* foldersAbove(path: string): Iterable<string> {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    yield folder
    if (folder === '') return
  }
}

export function inFolder(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function firstOf(paths: Iterable<string | null>, facts: Facts): Module | null {
  for (const path of paths) if (path !== null && path !== '' && facts.has(path)) return { path }
  return null
}

// Resolves packages of Go and Java, which consist of several files.

export function ownExport(surface: Surface, name: string): Reference | undefined {
  return Object.hasOwn(surface.exports, name) ? surface.exports[name] : undefined
}

/**
 * The only file that declares the name, among the files that `accepts` allows. Null when there is none or more than one, as with variants
 * of a file for several operating systems.
 */
function declaringFile(name: string, facts: Facts, accepts: (path: string) => boolean): string | null {
  const found = facts.pathsNamed(name).flatMap(path => {
    const surface = accepts(path) ? facts.surface(path) : null
    const target = surface === null ? undefined : ownExport(surface, name)
    return target === undefined ? [] : [{ path, target }]
  })
  const [first] = found
  return first !== undefined && found.length === 1 && !isUndeclared(first.target) ? first.path : null
}

/**
 * Resolves a Go import. `specifier` is an import path, or `OWN_PACKAGE` for the package of the importing file. Test files can be used only
 * from tests of their own package.
 */
function goModule(from: string, specifier: string, facts: Facts): Module {
  const isTest = (path: string) => path.endsWith('_test.go')
  const isOwn = specifier === OWN_PACKAGE
  const folder = isOwn ? folderOf(from) : importedFolder(specifier, facts)
  if (folder === null) return { package: specifier }
  const own = facts.surface(from)?.package
  const sees = (path: string) =>
    isOwn ? (isTest(from) || !isTest(path)) && facts.surface(path)?.package === own : !isTest(path)
  const accepts = (path: string) => path.endsWith('.go') && folderOf(path) === folder && sees(path)
  return { package: specifier, fileOf: name => declaringFile(name, facts, accepts) }
}

/**
 * The folder that a Go import path means: below the folder of the go.mod file whose module path is the longest prefix of the import path.
 */
function importedFolder(specifier: string, facts: Facts): string | null {
  const parts = specifier.split('/')
  for (let count = parts.length; count > 0; count--) {
    for (const manifest of facts.packagesNamed(parts.slice(0, count).join('/'))) {
      if (facts.surface(manifest)?.settings?.kind === 'go')
        return join(folderOf(manifest), parts.slice(count).join('/'))
    }
  }
  return null
}

/**
 * Resolves a name in Java. `specifier` is the name of a package, or `OWN_PACKAGE`, which means the file's own package and then the packages
 * imported as a whole. A package's files may lie below several root folders, such as `main` and `test`; a file below the importing file's
 * root is preferred.
 */
function javaModule(from: string, specifier: string, facts: Facts): Module {
  const surface = facts.surface(from)
  const own = surface?.package ?? ''
  const packages = specifier === OWN_PACKAGE ? [own, ...(surface?.stars ?? [])] : [specifier]
  const root = packageRoot(folderOf(from), own)
  return {
    package: specifier,
    fileOf: name => {
      for (const one of packages) {
        const isOfPackage = (path: string) => path.endsWith('.java') && (facts.surface(path)?.package ?? '') === one
        const folder = root === null ? null : one === '' ? root : inFolder(root, one.replaceAll('.', '/'))
        const isNear = (path: string) => folderOf(path) === folder && isOfPackage(path)
        const found = declaringFile(name, facts, isNear) ?? declaringFile(name, facts, isOfPackage)
        if (found !== null) return found
      }
      return null
    },
  }
}

/** The root folder below which a package's folders lie; null where the names of the folders differ from the package's name. */
function packageRoot(folder: string, name: string): string | null {
  const tail = name.replaceAll('.', '/')
  if (tail === '' || folder === tail) return tail === '' ? folder : ''
  return folder.endsWith(`/${tail}`) ? folder.slice(0, -tail.length - 1) : null
}

// Resolves modules of Rust.

/** Resolves the module part of a Rust path. `specifier` is `crate`, `super`, `super::super`, `./name`, or the name of another crate. */
function rustModule(from: string, specifier: string, facts: Facts): Module | null {
  const asModule = (path: string | null) => (path === null ? null : { path })
  if (specifier === 'crate') return asModule(crateRoot(from, facts))
  if (/^super(?:::super)*$/.test(specifier)) {
    let at: string | null = from
    for (const _ of specifier.split('::')) at = at === null ? null : parentOf(at, facts)
    return asModule(at)
  }
  if (!specifier.startsWith('./')) return { package: specifier }
  // Modules declared in `a.rs` are files in the folder `a/`; those declared in `lib.rs`, `main.rs` or `mod.rs` are files beside it.
  const folders = isFirst(from) ? [folderOf(from)] : [from.replace(/\.rs$/, ''), folderOf(from)]
  return firstOf(
    folders.flatMap(folder => ['.rs', '/mod.rs'].map(ending => join(folder, specifier + ending))),
    facts,
  )
}

function isFirst(path: string): boolean {
  return /(?:^|\/)(?:lib|main|mod)\.rs$/.test(path)
}

/**
 * Root file of the crate to which a file belongs: the nearest `lib.rs` or `main.rs`. Programs, tests and examples that consist of one file
 * are crates of their own.
 */
function crateRoot(from: string, facts: Facts): string | null {
  if (/(?:^|\/)(?:lib|main)\.rs$/.test(from)) return from
  if (/(?:^|\/)(?:bin|tests|examples|benches)\/[^/]+\.rs$/.test(from) && parentOf(from, facts) === null) return from
  for (const folder of foldersAbove(from)) {
    const roots = ['lib.rs', 'main.rs'].map(name => inFolder(folder, name)).filter(path => facts.has(path))
    if (roots.length === 1) return roots[0] as string
    // Where a folder has both `lib.rs` and `main.rs`, the crate's root is found by following, from file to file, which file declares the
    // module.
    if (roots.length > 1) return topOf(from, facts)
  }
  return null
}

const MAX_MODULES = 50

function topOf(from: string, facts: Facts): string | null {
  let at = from
  for (let depth = 0; depth < MAX_MODULES; depth++) {
    const above = parentOf(at, facts)
    if (above === null) return isFirst(at) ? at : null
    at = above
  }
  return null
}

/** The file that declares, with `mod name`, the module in the given file; null where no file or several do. */
function parentOf(path: string, facts: Facts): string | null {
  if (/(?:^|\/)(?:lib|main)\.rs$/.test(path)) return null
  const own = path.endsWith('/mod.rs') ? folderOf(path) : path.replace(/\.rs$/, '')
  const folder = folderOf(own)
  const name = own.slice(folder === '' ? 0 : folder.length + 1)
  const candidates = ['mod.rs', 'lib.rs', 'main.rs'].map(file => inFolder(folder, file))
  if (folder !== '') candidates.push(`${folder}.rs`)
  const found = candidates.filter(file => {
    const surface = file !== path && facts.has(file) ? facts.surface(file) : null
    return surface !== null && ownExport(surface, name) !== undefined
  })
  return found.length === 1 ? (found[0] as string) : null
}

// Resolves modules of Python.

/** Resolves the name of a Python module. `specifier` is the name as written: `a.b`, `.base` or `..`. */
function pythonModule(from: string, specifier: string, facts: Facts): Module | null {
  const dots = /^\.*/.exec(specifier)?.[0].length ?? 0
  const parts = specifier.slice(dots).split('.').filter(Boolean)
  if (dots > 0) {
    let folder: string | null = folderOf(from)
    for (let level = 1; level < dots; level++) folder = folder === null || folder === '' ? null : folderOf(folder)
    return folder === null ? null : pythonFile(folder, parts, facts)
  }
  const [top] = parts
  if (top === undefined) return null
  const roots = pythonRoots(from, facts)
  const find = (names: readonly string[]) =>
    roots.reduce<Module | null>((found, root) => found ?? pythonFile(root, names, facts), null)
  // Where the first part of the name is a package of the workspace but the module is missing, the name does not mean an external package
  // either.
  return find(parts) ?? (find([top]) === null ? { package: top } : null)
}

/** The module `name` in the Python package whose `__init__` file is `path`; null when there is none. */
export function pythonSubmodule(path: string, name: string, facts: Facts): Module | null {
  return /(?:^|\/)__init__\.pyi?$/.test(path) ? pythonFile(folderOf(path), [name], facts) : null
}

function pythonFile(folder: string, parts: readonly string[], facts: Facts): Module | null {
  const path = parts.reduce(inFolder, folder)
  const beside = parts.length === 0 ? [] : [`${path}.py`, `${path}.pyi`]
  return firstOf([...beside, inFolder(path, '__init__.py'), inFolder(path, '__init__.pyi')], facts)
}

/**
 * Folders in which absolute Python imports are searched: the folder that contains the file's topmost package, the workspace's root, and its
 * folders `src` and `lib`.
 */
function pythonRoots(from: string, facts: Facts): string[] {
  let top = folderOf(from)
  while (top !== '' && facts.has(inFolder(top, '__init__.py'))) top = folderOf(top)
  return [...new Set([top, '', 'src', 'lib'])]
}

// Finds the files that `#include` and relative imports of the remaining languages name, and those that Markdown links name.

/**
 * Resolves an `#include`. `"x.h"` is searched in the folder of the file, in parent folders, and in their folders `include`; `<x>` is
 * external unless the workspace has the file.
 */
function included(from: string, specifier: string, facts: Facts): Module | null {
  const name = specifier.slice(1, -1)
  const folders = [...foldersAbove(from)].flatMap(folder => [folder, inFolder(folder, 'include')])
  const found = firstOf(
    folders.map(folder => join(folder, name)),
    facts,
  )
  return found ?? (specifier.startsWith('<') ? { package: name } : null)
}

function beside(
  from: string,
  specifier: string,
  endings: readonly string[],
  facts: Facts,
  otherwise: string,
): Module | null {
  if (!specifier.startsWith('./')) return { package: otherwise }
  return firstOf(
    endings.map(ending => join(folderOf(from), specifier + ending)),
    facts,
  )
}

/** The concept to which a relative link in a Markdown document leads: that of a file, or the section that the link's anchor names. */
export function linkTarget(from: string, link: string, facts: Facts): ConceptPlace | null {
  const [address = '', anchor = ''] = link.split('#', 2)
  const name = decoded(address.replace(/[?].*$/s, ''))
  const path = name === '' ? from : join(name.startsWith('/') ? '' : folderOf(from), name)
  if (path === null) return null
  const found = firstOf([path, `${path}.md`, inFolder(path, 'README.md'), inFolder(path, 'index.md')], facts)
  const surface = found !== null && 'path' in found ? facts.surface(found.path) : null
  if (found === null || !('path' in found) || surface === null) return null
  const anchors = surface.anchors ?? {}
  const section = anchor !== '' && Object.hasOwn(anchors, decoded(anchor)) ? anchors[decoded(anchor)] : undefined
  return { path: found.path, key: section ?? (surface.keys[0] as string) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
