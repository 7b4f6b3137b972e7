/** Which file of a package that is several files declares a name. */
import { isUndeclared, type Reference, type Surface } from '../concept.ts'
import type { Facts } from './facts.ts'

/** The only one of those that `accepts` takes; null: none, or several, as with one for each operating system. */
export function declaringFile(name: string, facts: Facts, accepts: (path: string) => boolean): string | null {
  const found = facts.pathsNamed(name).filter(path => {
    const surface = accepts(path) ? facts.surface(path) : null
    return surface !== null && ownExport(surface, name) !== undefined
  })
  const [first] = found
  const isOne = first !== undefined && found.length === 1
  const target = isOne ? ownExport(facts.surface(first) as Surface, name) : undefined
  return isOne && target !== undefined && !isUndeclared(target) ? first : null
}

export function ownExport(surface: Surface, name: string): Reference | undefined {
  return Object.hasOwn(surface.exports, name) ? surface.exports[name] : undefined
}
