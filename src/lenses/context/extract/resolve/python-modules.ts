/** Where a Python import leads: relative to the package of the file, or from a folder that holds top packages. */
import type { Facts } from './facts.ts'
import type { Module } from './module.ts'
import { folderOf, inFolder } from './paths.ts'

const INITIAL = '__init__'

/** `specifier` as written: `a.b`, `.base`, `..`. */
export function pythonModule(from: string, specifier: string, facts: Facts): Module | null {
  const dots = /^\.*/.exec(specifier)?.[0].length ?? 0
  const parts = specifier.slice(dots).split('.').filter(Boolean)
  if (dots > 0) {
    let folder: string | null = folderOf(from)
    for (let level = 1; level < dots; level++) folder = folder === null || folder === '' ? null : folderOf(folder)
    return folder === null ? null : inside(folder, parts, facts)
  }
  for (const root of roots(from, facts)) {
    const found = parts.length === 0 ? null : inside(root, parts, facts)
    if (found !== null) return found
  }
  // A part of a package that is here, but not this part, is nobody else's.
  const [top] = parts
  return top === undefined || roots(from, facts).some(root => inside(root, [top], facts) !== null)
    ? null
    : { package: top }
}

/** The module `name` within the package whose `__init__` file is `path`, or null. */
export function pythonSubmodule(path: string, name: string, facts: Facts): Module | null {
  if (!/(?:^|\/)__init__\.pyi?$/.test(path)) return null
  return inside(folderOf(path), [name], facts)
}

function inside(folder: string, parts: readonly string[], facts: Facts): Module | null {
  const path = parts.reduce(inFolder, folder)
  const candidates = parts.length === 0 ? [] : [`${path}.py`, `${path}.pyi`]
  for (const ending of ['.py', '.pyi']) candidates.push(inFolder(path, INITIAL + ending))
  const found = candidates.find(candidate => facts.has(candidate))
  return found === undefined ? null : { path: found }
}

/** Folders that absolute imports start from: beside the file's top package, the workspace, and its `src` and `lib`. */
function roots(from: string, facts: Facts): string[] {
  let top = folderOf(from)
  while (top !== '' && facts.has(inFolder(top, `${INITIAL}.py`))) top = folderOf(top)
  return [...new Set([top, '', 'src', 'lib'])]
}
