/** Java: which file declares a class of a package. The files of a package may lie below several roots, as `main` and `test`. */
import { OWN_PACKAGE } from '../other/link-java.ts'
import { declaringFile } from './declaring-file.ts'
import type { Facts } from './facts.ts'
import type { Module } from './module.ts'
import { folderOf, inFolder } from './paths.ts'

/** `specifier`: names of packages with blanks between them, looked through in order; `OWN_PACKAGE` for the file's own. */
export function javaModule(from: string, specifier: string, facts: Facts): Module {
  const own = facts.surface(from)?.package ?? ''
  const packages = specifier.split(' ').map(name => (name === OWN_PACKAGE ? own : name))
  const root = rootOf(folderOf(from), own)
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

/** The folder that the folders of the package lie in; null where they do not have its name. */
function rootOf(folder: string, name: string): string | null {
  const tail = name.replaceAll('.', '/')
  if (tail === '' || folder === tail) return tail === '' ? folder : ''
  return folder.endsWith(`/${tail}`) ? folder.slice(0, -tail.length - 1) : null
}
