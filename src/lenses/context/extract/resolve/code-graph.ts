/**
 * Computes the links between concepts of a workspace and keeps them up to date. After a change, only these files are linked again: changed
 * ones, and those whose links depend on a fact about another file that is now different. Any order of changes gives the same links as a
 * full computation. Unresolved references give no link.
 */

import { sha256 } from '../../../../base/canonical.ts'
import {
  type ConceptType,
  type Extraction,
  type FileReference,
  isUndeclared,
  MODERATE,
  type ReadConcept,
  type Relation,
  type Surface,
} from '../concept.ts'
import { Evaluator, type Value } from './evaluate.ts'
import { type ConceptPlace, type Facts, linkTarget } from './modules.ts'

interface GraphChange {
  readonly put?: readonly Extraction[]
  readonly remove?: readonly string[]
}

/** Storage that gives the extractions (data read out of files) on demand, so that they need not all be in memory. */
export interface Extractions {
  get(path: string): Extraction | null
  put(extraction: Extraction): void
  remove(path: string): void
}

export class CodeGraph implements Facts {
  readonly #cards: Map<string, Card>
  readonly #extractions: Extractions
  readonly #packages = new Map<string, Set<string>>()
  /** For the hash of each name, the paths of the files with a concept of this name; built at the first look-up. */
  #named: Map<number, Set<string>> | null = null
  /**
   * Paths of files that changed since the stale files were last listed. `#answers`: hashes of the questions about files (such as whether a
   * path exists) whose answers changed since then.
   */
  #changed = new Set<string>()
  #answers = new Set<number>()
  /** Paths of files that were listed as stale (their links may be out of date) and not linked again yet. */
  readonly #unlinked = new Set<string>()

  /** Without arguments, makes an empty graph that keeps all its data in memory. */
  constructor(extractions: Extractions = inMemory(), cards: Iterable<readonly [string, Card]> = []) {
    this.#extractions = extractions
    this.#cards = new Map(cards)
    for (const [path, card] of this.#cards) this.#pack(path, card)
  }

  /** Applies changes of files and returns the paths of the files whose links may have changed, sorted, including removed files. */
  update({ put = [], remove = [] }: GraphChange): readonly string[] {
    for (const path of remove) this.remove(path)
    for (const extraction of put) this.put(extraction)
    return this.stale()
  }

  put(extraction: Extraction): void {
    const { path } = extraction
    const before = this.#cards.get(path)
    if (before?.hash === extraction.hash) return
    this.#settle()
    const made = cardOf(extraction)
    const isOther = before?.surfaceHash !== made.surfaceHash
    if (before === undefined) this.#answer(factKey.exists(path))
    if (isOther) {
      this.#answer(factKey.surface(path))
      if (before !== undefined) this.#unname(path, before)
      this.#name(path, made)
    }
    this.#cards.set(path, made)
    this.#extractions.put(extraction)
    this.#changed.add(path)
  }

  remove(path: string): void {
    const before = this.#cards.get(path)
    if (before === undefined) return
    this.#settle()
    this.#cards.delete(path)
    this.#extractions.remove(path)
    this.#unname(path, before)
    this.#answer(factKey.exists(path))
    this.#answer(factKey.surface(path))
    this.#changed.add(path)
  }

  /** Paths of the files whose links may have changed since the last call, sorted, including removed files. */
  stale(): readonly string[] {
    const stale = this.#changed
    const answers = this.#answers
    for (const [path, { asked }] of answers.size === 0 ? [] : this.#cards) {
      if (!stale.has(path) && hasAny(asked, answers)) stale.add(path)
    }
    this.#changed = new Set()
    this.#answers = new Set()
    for (const path of stale) if (this.#cards.has(path)) this.#unlinked.add(path)
    return [...stale].sort()
  }

  paths(): readonly string[] {
    return [...this.#cards.keys()].sort()
  }

  card(path: string): Card | undefined {
    return this.#cards.get(path)
  }

  extraction(path: string): Extraction | null {
    return this.#cards.has(path) ? this.#extractions.get(path) : null
  }

  /**
   * Computes the links of a file; nothing is cached, so every call computes them. Each fact about other files on which the links depend is
   * recorded as a question in the file's card, the small summary that stays in memory.
   */
  links(path: string): readonly Link[] {
    this.#unlinked.delete(path)
    const card = this.#cards.get(path)
    const extraction = this.extraction(path)
    if (card === undefined || extraction === null) return []
    const keys = new Set<string>()
    const links = linkFile(extraction, noted(this, keys))
    this.#cards.set(path, { ...card, asked: hashesOf(keys) })
    return links
  }

  surface(path: string): Surface | null {
    return this.extraction(path)?.surface ?? null
  }

  has(path: string): boolean {
    return this.#cards.has(path)
  }

  packagesNamed(name: string): readonly string[] {
    return [...(this.#packages.get(name) ?? [])].sort()
  }

  pathsNamed(name: string): readonly string[] {
    this.#named ??= this.#allNames()
    return [...(this.#named.get(hashOf(factKey.name(name))) ?? [])]
  }

  conceptNamed(name: string): ConceptPlace | null {
    let found: ConceptPlace | null = null
    for (const path of this.pathsNamed(name)) {
      for (const concept of this.extraction(path)?.concepts ?? []) {
        if (!namesOf(concept).includes(name)) continue
        if (found !== null && (found.path !== path || found.key !== concept.key)) return null
        found = { path, key: concept.key }
      }
    }
    return found
  }

  /**
   * Computes the links of the files that were not linked yet, so that their questions (facts about other files on which the links depend)
   * are recorded before a change alters the answers.
   */
  #settle(): void {
    for (const path of this.#unlinked) this.links(path)
  }

  #answer(key: string): void {
    this.#answers.add(hashOf(key))
  }

  #name(path: string, card: Card): void {
    this.#pack(path, card)
    if (card.package !== null) this.#answer(factKey.package(card.package))
    for (const name of card.named) {
      this.#answers.add(name)
      if (this.#named !== null) setAt(this.#named, name).add(path)
    }
  }

  #unname(path: string, card: Card): void {
    if (card.package !== null) {
      this.#answer(factKey.package(card.package))
      this.#packages.get(card.package)?.delete(path)
    }
    for (const name of card.named) {
      this.#answers.add(name)
      this.#named?.get(name)?.delete(path)
    }
  }

  #pack(path: string, card: Card): void {
    if (card.package !== null) setAt(this.#packages, card.package).add(path)
  }

  #allNames(): Map<number, Set<string>> {
    const all = new Map<number, Set<string>>()
    for (const [path, { named }] of this.#cards) {
      for (const name of named) setAt(all, name).add(path)
    }
    return all
  }
}

/**
 * A plain loop, for speed: it runs over every recorded question (fact about other files on which links depend), about a dozen for each
 * file.
 */
function hasAny(keys: Uint32Array, wanted: ReadonlySet<number>): boolean {
  for (let at = 0; at < keys.length; at++) if (wanted.has(keys[at] as number)) return true
  return false
}

function inMemory(): Extractions {
  const all = new Map<string, Extraction>()
  return {
    get: path => all.get(path) ?? null,
    put: extraction => void all.set(extraction.path, extraction),
    remove: path => void all.delete(path),
  }
}

function setAt<K>(map: Map<K, Set<string>>, key: K): Set<string> {
  const found = map.get(key) ?? new Set<string>()
  map.set(key, found)
  return found
}

// Cards: the summary of each file that stays in memory while its extracted data does not, enough to know whose links a change can affect.
// Names, and questions about other files, are kept as 32-bit hashes; a collision costs an unnecessary look-up but never loses a link.

export interface Card {
  /** Hash of the file's text; `surfaceHash`: hash of the data that other files can see of this file. */
  readonly hash: string
  readonly surfaceHash: string
  /** Hashes of the names by which other files can mention concepts of this file. */
  readonly named: Uint32Array
  /** Hashes of the questions about other files on which this file's links depend. */
  readonly asked: Uint32Array
  /** Name of the package that the file describes, if it is a package.json; else null. */
  readonly package: string | null
}

/** Types of concepts that are text and not code; text that mentions their names is not linked to them. */
const UNMENTIONED: ReadonlySet<ConceptType> = new Set(['Section', 'Caveat', 'Document', 'Entity'])

const NOTHING: Uint32Array = new Uint32Array(0)

function cardOf(extraction: Extraction): Card {
  const { hash, surface } = extraction
  const names = new Set<string>()
  for (const concept of extraction.concepts) for (const name of namesOf(concept)) names.add(name)
  return {
    hash,
    surfaceHash: sha256(JSON.stringify(surface)),
    named: hashesOf([...names].map(factKey.name)),
    asked: NOTHING,
    package: surface.settings?.name ?? null,
  }
}

/** Names by which a Markdown file can mention a concept. */
function namesOf({ type, name, qualifiedName }: ReadConcept): readonly string[] {
  if (UNMENTIONED.has(type)) return []
  return name === qualifiedName ? [name] : [name, qualifiedName]
}

function hashesOf(keys: Iterable<string>): Uint32Array {
  return Uint32Array.from(keys, hashOf)
}

/** Hash of a text: 32-bit FNV-1a over its UTF-16 units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

// Records every question about other files (such as whether a path exists) that is asked while a file is linked. The file's links can
// change only when the file itself or the answer to one of these questions changes.

/** Makes a key for each possible question about files, such as whether a path exists. */
const factKey = {
  surface: (path: string): string => `s:${path}`,
  exists: (path: string): string => `e:${path}`,
  package: (name: string): string => `p:${name}`,
  name: (name: string): string => `n:${name}`,
}

/** Wraps the interface that answers questions about files: the key of every question asked is added to `keys`. */
function noted(facts: Facts, keys: Set<string>): Facts {
  const asked = <T>(key: string, answer: T): T => {
    keys.add(key)
    return answer
  }
  return {
    surface: path => asked(factKey.surface(path), facts.surface(path)),
    has: path => asked(factKey.exists(path), facts.has(path)),
    packagesNamed: name => asked(factKey.package(name), facts.packagesNamed(name)),
    pathsNamed: name => asked(factKey.name(name), facts.pathsNamed(name)),
    conceptNamed: name => asked(factKey.name(name), facts.conceptNamed(name)),
  }
}

export type LinkTarget = ConceptPlace | { readonly package: string }

interface Link {
  /** Key of the concept, in the linked file, from which the link leads. */
  readonly source: string
  readonly relation: Relation
  readonly target: LinkTarget
  readonly weight: number
}

/**
 * Links of a file, ordered by source, relation and target. Between two concepts there is at most one link per relation, and no concept has
 * a link to itself.
 */
function linkFile(extraction: Extraction, facts: Facts): readonly Link[] {
  const evaluator = new Evaluator(facts)
  const links = new Map<string, Link>()
  for (const reference of extraction.references) {
    const link = resolve(reference, extraction.path, evaluator, facts)
    if (link === null) continue
    const id = idOf(link)
    if (!(links.has(id) && (links.get(id) as Link).weight >= link.weight)) links.set(id, link)
  }
  return [...links].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, link]) => link)
}

function idOf({ source, relation, target }: Link): string {
  return [source, relation, ...('package' in target ? ['', target.package] : [target.path, target.key])].join('\n')
}

function resolve(reference: FileReference, path: string, evaluator: Evaluator, facts: Facts): Link | null {
  const { source, relation, target, weight } = reference
  const found = targetOf(reference, path, evaluator, facts)
  if (found === null || ('path' in found && found.path === path && found.key === source)) return null
  if ('local' in target || 'package' in found) return { source, relation, target: found, weight }
  // A call can only go to a function, method, class or constant. A call of another type (a conversion in Go) or of a module becomes a link
  // of the kind `USES`.
  const isUse = relation === 'CALLS' && !/^(?:Function|Method|Class|Constant) /.test(found.key)
  return isUse
    ? { source, relation: 'USES', target: found, weight: MODERATE }
    : { source, relation, target: found, weight }
}

function targetOf(
  { relation, target }: FileReference,
  path: string,
  evaluator: Evaluator,
  facts: Facts,
): LinkTarget | null {
  if ('local' in target) return { path, key: target.local }
  if (relation === 'MENTIONS') return isUndeclared(target) ? facts.conceptNamed(target.name) : null
  if (relation === 'LINKS_TO') return 'module' in target ? linkTarget(path, target.module, facts) : null
  const value = evaluator.evaluate(target, path)
  return value === null ? null : placeOf(value, relation, facts)
}

function placeOf(value: Value, relation: Relation, facts: Facts): LinkTarget | null {
  if (value.is === 'symbol' && relation !== 'DEPENDS_ON') return { path: value.path, key: value.key }
  if (relation !== 'DEPENDS_ON') return null
  if (value.is === 'package') return { package: value.name }
  const key = value.is === 'module' ? facts.surface(value.path)?.keys[0] : undefined
  return value.is === 'module' && key !== undefined ? { path: value.path, key } : null
}
