/** What a plugin is: a named function of a question and its numbers, whose result is text to search with and tags. */
import { QuerentError } from '../../../model/errors.ts'
import type { ParsedNumber } from './parsed-number.ts'

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
