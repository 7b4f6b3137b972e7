/** Where an import leads in the languages that are read for definitions: a file beside this one, or a package. */
import type { Language } from '../concept.ts'
import type { Facts } from './facts.ts'
import type { Module } from './module.ts'
import { folderOf, foldersAbove, inFolder, join } from './paths.ts'

const ENDINGS: Partial<Record<Language, readonly string[]>> = {
  ruby: ['', '.rb'],
  php: ['', '.php'],
}

export function plainModule(from: string, specifier: string, language: Language, facts: Facts): Module | null {
  if (language === 'c' || language === 'cpp') return included(from, specifier, facts)
  if (!specifier.startsWith('./'))
    return { package: language === 'ruby' ? (specifier.split('/')[0] as string) : specifier }
  for (const ending of ENDINGS[language] ?? []) {
    const path = join(folderOf(from), specifier + ending)
    if (path !== null && facts.has(path)) return { path }
  }
  return null
}

/** `"x.h"` beside the file or from a folder above or its `include`; `<x>` is somebody else's unless it is here. */
function included(from: string, specifier: string, facts: Facts): Module | null {
  const name = specifier.slice(1, -1)
  for (const folder of foldersAbove(from)) {
    for (const tried of [folder, inFolder(folder, 'include')]) {
      const path = join(tried, name)
      if (path !== null && facts.has(path)) return { path }
    }
  }
  return specifier.startsWith('<') ? { package: name } : null
}
