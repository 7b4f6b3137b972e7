/** What domains and their plugins are: named functions of a question and its numbers, whose result is text to search with and tags; and how they are run. */

import type { Steps } from '../../../base/turns.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { NumberRules, ParsedNumber } from './numbers.ts'

export interface EnrichmentDomain {
  readonly name: string
  readonly plugins: readonly EnrichmentPlugin[]
  readonly numbers?: NumberRules | undefined
  /** The one spelling a tag is stored and asked under; trimmed only when left out. */
  readonly canonicalTag?: ((tag: string) => string) | undefined
  /** All tags that a name in a question may mean. Default: its canonical spelling and the name itself. */
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

/** Frozen, and the same object for every plugin. */
export interface EnrichmentInput {
  readonly query: string
  readonly numbers: readonly ParsedNumber[]
}

export interface EnrichmentResult {
  /** One line a fact; joined to the question. */
  readonly additionalContext: readonly string[]
  /** Records that carry any of these are looked at first. */
  readonly filterTags: readonly string[]
}

/** Keeps no state between questions: the same input gives the same result. */
export interface EnrichmentPlugin {
  readonly name: string
  /** Lower runs first; 100 when left out. */
  readonly priority?: number | undefined
  enrich(input: EnrichmentInput): EnrichmentResult
}

export const DEFAULT_PRIORITY = 100

/** Names of files that bring a plugin. */
export const PLUGIN_FILE = /_enrichment\.[jt]s$/

/** What is wrong with such a file that brings none. */
export const NO_PLUGIN = 'it exports no class with a method enrich'

/** By priority, then by name. Throws `conflict` when two plugins have one name. */
export function inOrder(plugins: readonly EnrichmentPlugin[]): readonly EnrichmentPlugin[] {
  const names = new Set<string>()
  for (const { name } of plugins) {
    if (names.has(name)) {
      throw new QuerentError('conflict', `plugin: two are named "${name}"; rename or remove one`, { plugin: name })
    }
    names.add(name)
  }
  return [...plugins].sort((a, b) => priorityOf(a) - priorityOf(b) || (a.name < b.name ? -1 : 1))
}

/**
 * One instance of the first class with a method `enrich` among a module's exports, by order of their names; null when it
 * exports none. Throws what is wrong with it.
 */
export function pluginIn(exported: Readonly<Record<string, unknown>>): EnrichmentPlugin | null {
  const found = Object.values(exported).find(isPluginClass)
  if (found === undefined) return null
  const plugin = new found()
  if (typeof plugin.name !== 'string' || plugin.name === '') throw new Error('its plugin needs a name, a text')
  if (plugin.priority !== undefined && !Number.isFinite(plugin.priority)) {
    throw new Error(`the priority of its plugin must be a number, not ${String(plugin.priority)}`)
  }
  return plugin
}

type PluginClass = new () => EnrichmentPlugin

function isPluginClass(value: unknown): value is PluginClass {
  return typeof value === 'function' && typeof value.prototype?.enrich === 'function'
}

function priorityOf(plugin: EnrichmentPlugin): number {
  return plugin.priority ?? DEFAULT_PRIORITY
}

export interface PluginWarning {
  readonly plugin: string
  readonly message: string
}

export interface PluginOutcome {
  /** In order of plugins, each line once. */
  readonly additionalContext: readonly string[]
  /** Sorted, each once. */
  readonly filterTags: readonly string[]
  readonly warnings: readonly PluginWarning[]
}

/** A step each. `plugins` in the order they run in; `canonicalTag` gives the one spelling a tag is stored and asked under. */
export function* runPlugins(
  plugins: readonly EnrichmentPlugin[],
  input: EnrichmentInput,
  canonicalTag: (tag: string) => string = tag => tag.trim(),
): Steps<PluginOutcome> {
  const lines = new Set<string>()
  const tags = new Set<string>()
  const warnings: PluginWarning[] = []
  const frozen = frozenInput(input)
  for (const plugin of plugins) {
    yield
    try {
      const result = checked(plugin.enrich(frozen))
      for (const line of result.additionalContext) lines.add(line)
      for (const tag of result.filterTags) tags.add(canonicalTag(tag))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      warnings.push({ plugin: plugin.name, message: `plugin ${plugin.name} failed and adds nothing: ${reason}` })
    }
  }
  return { additionalContext: [...lines], filterTags: [...tags].sort(), warnings }
}

function frozenInput({ query, numbers }: EnrichmentInput): EnrichmentInput {
  const copies = numbers.map(number => Object.freeze({ ...number, ...frozenPlaces(number.at) }))
  return Object.freeze({ query, numbers: Object.freeze(copies) })
}

function frozenPlaces(at: readonly number[] | undefined): { readonly at?: readonly number[] } {
  return at === undefined ? {} : { at: Object.freeze([...at]) }
}

/** A copy, so that a plugin which keeps its arrays cannot change an answer later. */
function checked(result: unknown): EnrichmentResult {
  const { additionalContext, filterTags } = (result ?? {}) as Readonly<Record<string, unknown>>
  return {
    additionalContext: texts(additionalContext, 'additionalContext'),
    filterTags: texts(filterTags, 'filterTags'),
  }
}

function texts(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value) || value.some(text => typeof text !== 'string')) {
    throw new TypeError(`its result needs ${field}, a list of texts`)
  }
  return (value as readonly string[]).map(text => text.trim()).filter(text => text !== '')
}
