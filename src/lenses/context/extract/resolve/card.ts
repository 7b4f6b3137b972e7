/**
 * What is kept in memory of a file while its extraction is not: enough to tell whose links a change can touch. Names and
 * questions are kept as 32-bit hashes; two with the same one cost a look too many, never a link.
 */
import { sha256 } from '../../../../base/canonical.ts'
import type { ConceptType, Extraction, ReadConcept } from '../concept.ts'
import { factKey } from './facts.ts'

export interface Card {
  /** Of the text. */
  readonly hash: string
  readonly surfaceHash: string
  /** Hashes of the names that its concepts can be mentioned by. */
  readonly named: Uint32Array
  /** Hashes of what its links depend on. */
  readonly asked: Uint32Array
  /** The name that a package.json gives. */
  readonly package: string | null
}

/** Not to be mentioned by name: they are text, not code. */
const UNMENTIONED: ReadonlySet<ConceptType> = new Set(['Section', 'Caveat', 'Document', 'Entity'])

export const NOTHING: Uint32Array = new Uint32Array(0)

export function cardOf(extraction: Extraction): Card {
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

/** What Markdown can mention a concept by. */
export function namesOf({ type, name, qualifiedName }: ReadConcept): readonly string[] {
  if (UNMENTIONED.has(type)) return []
  return name === qualifiedName ? [name] : [name, qualifiedName]
}

export function hashesOf(keys: Iterable<string>): Uint32Array {
  return Uint32Array.from(keys, hashOf)
}

/** FNV-1a over UTF-16 units. */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
