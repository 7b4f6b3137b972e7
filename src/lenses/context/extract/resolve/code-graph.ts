/**
 * The links of a whole workspace, kept up to date: after a change only the files are linked anew that changed themselves,
 * or that asked something whose answer changed. Any order of changes ends in the links that a fresh start gives.
 */
import { sha256 } from '../../../../base/canonical.ts'
import type { ConceptType, Extraction, Surface } from '../concept.ts'
import { type ConceptPlace, type Facts, factKey, NotedFacts } from './facts.ts'
import { type Link, linkFile } from './link-file.ts'

export interface GraphChange {
  readonly put?: readonly Extraction[]
  readonly remove?: readonly string[]
}

/** Not to be mentioned by name: they are text, not code. */
const UNMENTIONED: ReadonlySet<ConceptType> = new Set(['Section', 'Caveat', 'Document', 'Entity'])

interface Entry {
  readonly extraction: Extraction
  readonly surfaceHash: string
}

export class CodeGraph implements Facts {
  readonly #files = new Map<string, Entry>()
  readonly #links = new Map<string, readonly Link[]>()
  /** File -> keys of what its links depend on; and the other way round. */
  readonly #asked = new Map<string, ReadonlySet<string>>()
  readonly #askers = new Map<string, Set<string>>()
  readonly #packages = new Map<string, Set<string>>()
  readonly #names = new Map<string, Map<string, ConceptPlace>>()

  /** Gives the paths whose links may be others than before, in order; those of removed files among them. */
  update({ put = [], remove = [] }: GraphChange): readonly string[] {
    const stale = new Set<string>()
    const answers = new Set<string>()
    for (const path of remove) if (this.#take(path, answers)) stale.add(path)
    for (const extraction of put) {
      if (this.#place(extraction, answers)) stale.add(extraction.path)
    }
    for (const answer of answers) for (const asker of this.#askers.get(answer) ?? []) stale.add(asker)
    const paths = [...stale].sort()
    for (const path of paths) this.#link(path)
    return paths
  }

  paths(): readonly string[] {
    return [...this.#files.keys()].sort()
  }

  extraction(path: string): Extraction | null {
    return this.#files.get(path)?.extraction ?? null
  }

  links(path: string): readonly Link[] {
    return this.#links.get(path) ?? []
  }

  surface(path: string): Surface | null {
    return this.#files.get(path)?.extraction.surface ?? null
  }

  has(path: string): boolean {
    return this.#files.has(path)
  }

  packagesNamed(name: string): readonly string[] {
    return [...(this.#packages.get(name) ?? [])].sort()
  }

  conceptNamed(name: string): ConceptPlace | null {
    const places = this.#names.get(name)
    return places?.size === 1 ? ([...places.values()][0] as ConceptPlace) : null
  }

  /** Whether anything changed. */
  #place(extraction: Extraction, answers: Set<string>): boolean {
    const { path } = extraction
    const before = this.#files.get(path)
    if (before?.extraction.hash === extraction.hash) return false
    const surfaceHash = sha256(JSON.stringify(extraction.surface))
    if (before === undefined) answers.add(factKey.exists(path))
    if (before?.surfaceHash !== surfaceHash) {
      answers.add(factKey.surface(path))
      if (before !== undefined) this.#unname(before.extraction, answers)
      this.#name(extraction, answers)
    }
    this.#files.set(path, { extraction, surfaceHash })
    return true
  }

  #take(path: string, answers: Set<string>): boolean {
    const before = this.#files.get(path)
    if (before === undefined) return false
    this.#files.delete(path)
    this.#unname(before.extraction, answers)
    answers.add(factKey.exists(path)).add(factKey.surface(path))
    return true
  }

  #name({ path, concepts, surface }: Extraction, answers: Set<string>): void {
    const name = surface.settings?.name
    if (name !== undefined) {
      answers.add(factKey.package(name))
      put(this.#packages, name, new Set<string>()).add(path)
    }
    for (const concept of concepts) {
      if (UNMENTIONED.has(concept.type)) continue
      for (const called of new Set([concept.name, concept.qualifiedName])) {
        answers.add(factKey.name(called))
        put(this.#names, called, new Map<string, ConceptPlace>()).set(`${path}\n${concept.key}`, {
          path,
          key: concept.key,
        })
      }
    }
  }

  #unname({ path, concepts, surface }: Extraction, answers: Set<string>): void {
    const name = surface.settings?.name
    if (name !== undefined) {
      answers.add(factKey.package(name))
      this.#packages.get(name)?.delete(path)
    }
    for (const concept of concepts) {
      for (const called of [concept.name, concept.qualifiedName]) {
        const places = this.#names.get(called)
        if (places?.delete(`${path}\n${concept.key}`)) answers.add(factKey.name(called))
        if (places?.size === 0) this.#names.delete(called)
      }
    }
  }

  #link(path: string): void {
    for (const key of this.#asked.get(path) ?? []) {
      const askers = this.#askers.get(key)
      askers?.delete(path)
      if (askers?.size === 0) this.#askers.delete(key)
    }
    this.#asked.delete(path)
    this.#links.delete(path)
    const entry = this.#files.get(path)
    if (entry === undefined) return
    const facts = new NotedFacts(this)
    this.#links.set(path, linkFile(entry.extraction, facts))
    this.#asked.set(path, facts.keys)
    for (const key of facts.keys) put(this.#askers, key, new Set<string>()).add(path)
  }
}

function put<V>(map: Map<string, V>, key: string, empty: V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  map.set(key, empty)
  return empty
}
