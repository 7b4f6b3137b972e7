/**
 * Domains and their plugins. A plugin is a named function of a question and its numbers that returns text to search with and tags. Also the
 * code that runs plugins.
 */

import type { Steps } from '../../../base/turns.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { NumberRules, ParsedNumber } from './numbers.ts'

export interface EnrichmentDomain {
  readonly name: string
  readonly plugins: readonly EnrichmentPlugin[]
  readonly numbers?: NumberRules | undefined
  /** Returns the spelling under which a tag is stored and searched. Default: the trimmed tag. */
  readonly canonicalTag?: ((tag: string) => string) | undefined
  /** Returns all tags that a name in a question may mean. Default: its canonical spelling and the name itself. */
  readonly tagsFor?: ((name: string) => readonly string[]) | undefined
  /** Built-in facts of the domain, one record for each. */
  readonly corpus?: (() => readonly DomainRecord[]) | undefined
}

export interface DomainRecord {
  /** Stays the same for the same fact, even if its text changes. */
  readonly id: string
  readonly title: string
  /** Kind of the fact, in one word. */
  readonly type: string
  readonly text: string
  /** Canonical tags of the record, sorted. */
  readonly tags: readonly string[]
}

/** Input of a plugin: frozen, and the same object for every plugin. */
export interface EnrichmentInput {
  readonly query: string
  readonly numbers: readonly ParsedNumber[]
}

export interface EnrichmentResult {
  /** Facts to add to the question, one per line. */
  readonly additionalContext: readonly string[]
  /** Tags to search for: records that carry any of these tags are searched first. */
  readonly filterTags: readonly string[]
}

/** A plugin keeps no state between queries: the same input gives the same result. */
export interface EnrichmentPlugin {
  readonly name: string
  /** Plugins with a lower priority run first; 100 when left out. */
  readonly priority?: number | undefined
  enrich(input: EnrichmentInput): EnrichmentResult
}

export const DEFAULT_PRIORITY = 100

/** Pattern of the names of files that contain an enrichment plugin. */
export const PLUGIN_FILE = /_enrichment\.[jt]s$/

/** Error text for a plugin file that exports no plugin. */
export const NO_PLUGIN = 'it exports no class with a method enrich'

/** Plugins sorted by priority, then by name. Throws `conflict` when two plugins have the same name. */
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
 * One instance of the first class with a method `enrich` among a module's exports, in the order of their names; null when there is no such
 * class. Throws an error that says what is wrong with the class.
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
  /** Context lines of all plugins, in the order in which the plugins ran, without duplicates. */
  readonly additionalContext: readonly string[]
  /** Tags of all plugins, sorted, without duplicates. */
  readonly filterTags: readonly string[]
  readonly warnings: readonly PluginWarning[]
}

/** Runs the plugins in the order given, one step per plugin. `canonicalTag` gives the spelling under which a tag is stored and searched. */
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

/** The result is copied, so that a plugin which keeps its arrays cannot change an answer later. */
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
