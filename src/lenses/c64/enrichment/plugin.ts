/**
 * Domains of knowledge (such as a computer model) and their plugins. A plugin is a named function of a question and the numbers in it; it
 * returns explanations to add to the question, and tags to search for. This module also runs the plugins.
 */

import type { Steps } from '../../../base/turns.ts'
import { QuerentError } from '../../../model/errors.ts'
import type { NumberRules, ParsedNumber } from './numbers.ts'

export interface EnrichmentDomain {
  readonly name: string
  readonly plugins: readonly EnrichmentPlugin[]
  readonly numbers?: NumberRules | undefined
  /** Returns the spelling in which a tag is stored and searched for. Default: the tag without surrounding blanks. */
  readonly canonicalTag?: ((tag: string) => string) | undefined
  /** Returns all tags that a name in a question may mean. Default: the name in its stored spelling, and the name itself. */
  readonly tagsFor?: ((name: string) => readonly string[]) | undefined
  /** Returns the built-in facts of the domain, one record for each. */
  readonly corpus?: (() => readonly DomainRecord[]) | undefined
}

export interface DomainRecord {
  /** Id of the fact, which stays unchanged even if the fact's text changes. */
  readonly id: string
  readonly title: string
  /** Kind of the fact in one word, such as `note`. */
  readonly type: string
  readonly text: string
  /** Tags of the record, in the spelling in which they are stored, sorted. */
  readonly tags: readonly string[]
}

/** Input of a plugin: the question and its numbers. It is frozen, and every plugin receives one and the same object. */
export interface EnrichmentInput {
  readonly query: string
  readonly numbers: readonly ParsedNumber[]
}

export interface EnrichmentResult {
  /** Facts that the plugin adds to the question, one per line. */
  readonly additionalContext: readonly string[]
  /** Tags that the plugin found in the question; records with any of these tags are searched first. */
  readonly filterTags: readonly string[]
}

/** A plugin that explains parts of a question. It keeps no state between queries: equal input always gives an equal result. */
export interface EnrichmentPlugin {
  readonly name: string
  /** Plugins run in ascending order of this number; default 100. */
  readonly priority?: number | undefined
  enrich(input: EnrichmentInput): EnrichmentResult
}

export const DEFAULT_PRIORITY = 100

/** Pattern for the names of files that must contain an enrichment plugin. */
export const PLUGIN_FILE = /_enrichment\.[jt]s$/

/** Error text for a plugin file that does not export a plugin. */
export const NO_PLUGIN = 'it exports no class with a method enrich'

/** Sorts plugins by priority, then by name. Throws `conflict` if two plugins have one name. */
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
 * Makes an instance of the first class with a method `enrich` among a module's exports, in the order of their names; null: there is no such
 * class. Throws an error that says what is wrong if the instance is not a valid plugin.
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
  /** Explanations from all plugins, in the order in which the plugins ran, without duplicates. */
  readonly additionalContext: readonly string[]
  /** Tags from all plugins, sorted, without duplicates. */
  readonly filterTags: readonly string[]
  readonly warnings: readonly PluginWarning[]
}

/**
 * Runs the plugins in the given order, with a pause before each so that other work can run. A plugin that fails adds only a warning.
 * `canonicalTag` returns the spelling in which a tag is stored and searched for.
 */
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

/** Checks and copies the result of a plugin, so that a plugin that later changes its own arrays cannot change an answer. */
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
