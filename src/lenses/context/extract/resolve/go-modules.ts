/** Go: where an import leads, and which file of a package declares a name. A package is the files of one folder. */
import { OWN_PACKAGE } from '../other/link-go.ts'
import { declaringFile } from './declaring-file.ts'
import type { Facts } from './facts.ts'
import type { Module } from './module.ts'
import { folderOf, join } from './paths.ts'

/** `specifier`: an import path, or `OWN_PACKAGE`. Files of tests are seen by tests of their own package alone. */
export function goModule(from: string, specifier: string, facts: Facts): Module {
  if (specifier === OWN_PACKAGE) {
    const own = facts.surface(from)?.package
    const sees = (path: string) => (isTest(from) || !isTest(path)) && facts.surface(path)?.package === own
    return { package: specifier, fileOf: name => goFile(folderOf(from), name, facts, sees) }
  }
  const folder = importedFolder(specifier, facts)
  if (folder === null) return { package: specifier }
  return { package: specifier, fileOf: name => goFile(folder, name, facts, path => !isTest(path)) }
}

function goFile(folder: string, name: string, facts: Facts, sees: (path: string) => boolean): string | null {
  return declaringFile(name, facts, path => path.endsWith('.go') && folderOf(path) === folder && sees(path))
}

/** Below the folder of the go.mod whose path the import begins with, the longest first. */
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

function isTest(path: string): boolean {
  return path.endsWith('_test.go')
}
