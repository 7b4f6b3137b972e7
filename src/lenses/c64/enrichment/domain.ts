/**
 * A domain: what turns the numbers and names of one field of knowledge into words to search with. Everything but its
 * name and its plugins is optional.
 */
import type { NumberRules } from './number-rules.ts'
import type { EnrichmentPlugin } from './plugin.ts'

export interface EnrichmentDomain {
  readonly name: string
  readonly plugins: readonly EnrichmentPlugin[]
  readonly numbers?: NumberRules | undefined
  /** The one spelling a tag is stored and asked under; trimmed only when left out. */
  readonly canonicalTag?: ((tag: string) => string) | undefined
  /** All tags a name in a question may stand for; its canonical spelling and itself when left out. */
  readonly tagsFor?: ((name: string) => readonly string[]) | undefined
  /** What the domain knows by itself, one record a fact. */
  readonly corpus?: (() => readonly DomainRecord[]) | undefined
}

export interface DomainRecord {
  /** The same for the same fact, whatever its text. */
  readonly id: string
  readonly title: string
  /** What kind of fact, in one word. */
  readonly type: string
  readonly text: string
  /** Canonical and sorted. */
  readonly tags: readonly string[]
}
