/**
 * What resolving may ask about the other files of a workspace. Every question leaves a key behind: the links of a file can
 * change only when the file does or when the answer to one of its questions does.
 */
import type { Surface } from '../concept.ts'

export interface ConceptPlace {
  readonly path: string
  readonly key: string
}

export interface Facts {
  /** Null: no such file, or none that is read. */
  surface(path: string): Surface | null
  has(path: string): boolean
  /** Paths of the package.json that give this name, in order. */
  packagesNamed(name: string): readonly string[]
  /** Paths of files that declare a concept of code with the name or qualified name, and perhaps others; in any order. */
  pathsNamed(name: string): readonly string[]
  /** The one concept of code with the name or qualified name; null when there is none or more than one. */
  conceptNamed(name: string): ConceptPlace | null
}

/** Keys of what can be asked. */
export const factKey = {
  surface: (path: string): string => `s:${path}`,
  exists: (path: string): string => `e:${path}`,
  package: (name: string): string => `p:${name}`,
  name: (name: string): string => `n:${name}`,
}

/** Passes questions on and keeps their keys. */
export class NotedFacts implements Facts {
  readonly keys: Set<string> = new Set()
  readonly #facts: Facts

  constructor(facts: Facts) {
    this.#facts = facts
  }

  surface(path: string): Surface | null {
    this.keys.add(factKey.surface(path))
    return this.#facts.surface(path)
  }

  has(path: string): boolean {
    this.keys.add(factKey.exists(path))
    return this.#facts.has(path)
  }

  packagesNamed(name: string): readonly string[] {
    this.keys.add(factKey.package(name))
    return this.#facts.packagesNamed(name)
  }

  pathsNamed(name: string): readonly string[] {
    this.keys.add(factKey.name(name))
    return this.#facts.pathsNamed(name)
  }

  conceptNamed(name: string): ConceptPlace | null {
    this.keys.add(factKey.name(name))
    return this.#facts.conceptNamed(name)
  }
}
