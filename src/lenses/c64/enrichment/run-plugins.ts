/** Runs plugins one after the other over one frozen input; what one of them does wrong costs its own part only. */
import type { Steps } from '../../../base/turns.ts'
import type { EnrichmentInput, EnrichmentPlugin, EnrichmentResult } from './plugin.ts'

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
