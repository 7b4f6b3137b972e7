/** Rust: the file of a module, by its name from the module that declares it, or as the root or the parent of one. */
import { ownExport } from './declaring-file.ts'
import type { Facts } from './facts.ts'
import type { Module } from './module.ts'
import { folderOf, foldersAbove, inFolder, join } from './paths.ts'

/** `specifier`: `crate`, `super`, `super::super`, `./name`, or the name of another crate. */
export function rustModule(from: string, specifier: string, facts: Facts): Module | null {
  if (specifier === 'crate') return asModule(rootOf(from, facts))
  if (/^super(?:::super)*$/.test(specifier)) {
    let at: string | null = from
    for (const _ of specifier.split('::')) at = at === null ? null : parentOf(at, facts)
    return asModule(at)
  }
  if (!specifier.startsWith('./')) return { package: specifier }
  const found = foldersOf(from).flatMap(folder => ['.rs', '/mod.rs'].map(ending => join(folder, specifier + ending)))
  return asModule(found.find(path => path !== null && facts.has(path)) ?? null)
}

function asModule(path: string | null): Module | null {
  return path === null ? null : { path }
}

/** The modules of `a.rs` lie in `a/`, those of `lib.rs`, `main.rs` and `mod.rs` beside it. */
function foldersOf(from: string): string[] {
  const stem = from.replace(/\.rs$/, '')
  return isFirst(from) ? [folderOf(from)] : [stem, folderOf(from)]
}

function isFirst(path: string): boolean {
  return /(?:^|\/)(?:lib|main|mod)\.rs$/.test(path)
}

/** The nearest `lib.rs` or `main.rs`; programs, tests and examples of a file are crates of their own. */
function rootOf(from: string, facts: Facts): string | null {
  if (/(?:^|\/)(?:lib|main)\.rs$/.test(from)) return from
  if (/(?:^|\/)(?:bin|tests|examples|benches)\/[^/]+\.rs$/.test(from) && parentOf(from, facts) === null) return from
  for (const folder of foldersAbove(from)) {
    const roots = ['lib.rs', 'main.rs'].map(name => inFolder(folder, name)).filter(path => facts.has(path))
    if (roots.length === 1) return roots[0] as string
    // Both have modules in one folder: the one that the way up leads to.
    if (roots.length > 1) return topOf(from, facts)
  }
  return null
}

const MAX_DEPTH = 50

function topOf(from: string, facts: Facts): string | null {
  let at = from
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const above = parentOf(at, facts)
    if (above === null) return isFirst(at) ? at : null
    at = above
  }
  return null
}

/** The file that declares the module; null where several do, or none. */
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
