/**
 * Enriches a question before the search: finds the numbers in it, runs the plugins that explain them, joins the question with the
 * explanations and tags, and chooses the search strategy.
 */

import { atOnce, type Steps } from '../../../base/turns.ts'
import type { ParsedNumber } from './numbers.ts'
import { extractNumbers, scanNumbers } from './numbers.ts'
import type { EnrichmentDomain } from './plugin.ts'
import { inOrder, type PluginWarning, runPlugins } from './plugin.ts'

export interface Enrichment {
  readonly query: string
  readonly numbers: readonly ParsedNumber[]
  readonly additionalContext: readonly string[]
  readonly filterTags: readonly string[]
  /** The question with the plugins' explanations, which is embedded and searched for. */
  readonly enrichedQuery: string
  readonly strategy: Strategy
  /** A warning for each plugin that failed and whose explanations and tags are missing. */
  readonly warnings: readonly PluginWarning[]
}

/** Enriches a question for the search with the plugins of a domain. Throws `conflict` if two plugins of the domain have one name. */
export function enrich(query: string, domain: EnrichmentDomain): Enrichment {
  return atOnce(enrichInSteps(query, domain))
}

/**
 * Enriches a question for the search. It pauses every few milliseconds so that other work can run, however many numbers the question
 * contains.
 */
export function* enrichInSteps(query: string, domain: EnrichmentDomain): Steps<Enrichment> {
  const numbers = extractNumbers(query, domain.numbers)
  const outcome = yield* runPlugins(inOrder(domain.plugins), { query, numbers }, domain.canonicalTag)
  yield
  const isNatural = yield* hasNaturalLanguage(query, outcome.filterTags, domain)
  yield
  return {
    query,
    numbers,
    ...outcome,
    enrichedQuery: joinContext(query, outcome.additionalContext),
    strategy: chooseStrategy(outcome.filterTags, isNatural),
  }
}

/** An enrichment that adds nothing to the question and searches by meaning. */
export function withoutEnrichment(query: string): Enrichment {
  const nothing = { numbers: [], additionalContext: [], filterTags: [], warnings: [] }
  return { query, ...nothing, enrichedQuery: query, strategy: 'semantic' }
}

export function joinContext(query: string, context: readonly string[]): string {
  return context.length === 0 ? query : `${query}\n[${context.join('; ')}]`
}

export type Strategy = 'hybrid' | 'filtered' | 'semantic'

export function chooseStrategy(tags: readonly string[], naturalLanguage: boolean): Strategy {
  if (tags.length === 0) return 'semantic'
  return naturalLanguage ? 'hybrid' : 'filtered'
}

type Naming = Pick<EnrichmentDomain, 'canonicalTag' | 'tagsFor' | 'numbers'>

/**
 * Whether at least two ordinary words remain in the question when numbers, and names that became tags, are removed. It pauses after each
 * token so that other work can run.
 */
export function* hasNaturalLanguage(query: string, tags: readonly string[], naming: Naming = {}): Steps<boolean> {
  const tokens = tokensOf(query, naming)
  const asked = new Set(tags)
  let left = 0
  for (let at = 0; at < tokens.length; ) {
    const length = nameAt(tokens, at, query, asked, naming)
    const token = tokens[at]
    if (length === 0 && token !== undefined && isWord(token)) left += 1
    if (left >= 2) return true
    yield
    at += Math.max(length, 1)
  }
  return false
}

/** Describes for people what was searched. `fellBack`: no record had any of the tags, so all records were searched. */
export function modeText(strategy: Strategy, tags: readonly string[], fellBack = false): string {
  const list = tags.join(', ')
  if (strategy === 'hybrid') return `hybrid (filtered on ${list} + semantic)`
  if (strategy === 'semantic') return 'semantic'
  return fellBack ? `filtered (${list}), no match, semantic` : `filtered (${list})`
}

interface Token {
  readonly text: string
  readonly isNumber: boolean
  /** Start and end of the token in the question, in UTF-16 units; the end is exclusive. */
  readonly start: number
  readonly end: number
}

/** Splits a question into words and numbers. A number may be part of a name ("gray 2"), but does not count as a word. */
function tokensOf(query: string, { numbers }: Naming): readonly Token[] {
  const scanned = scanNumbers(query, numbers)
  let next = 0
  return [...query.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}_'’]*/gu)].map(({ 0: text, index: start }) => {
    const end = start + text.length
    while ((scanned[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1
    return { text, start, end, isNumber: (scanned[next]?.start ?? Number.POSITIVE_INFINITY) < end }
  })
}

/** Maximum number of words in a name that can become a tag. */
const LONGEST_NAME = 3

/**
 * Number of tokens, beginning with token `at`, that form a name that became a tag; if several names begin there, that of the longest. 0:
 * none.
 */
function nameAt(
  tokens: readonly Token[],
  at: number,
  query: string,
  tags: ReadonlySet<string>,
  naming: Naming,
): number {
  const start = tokens[at]?.start ?? 0
  for (let length = Math.min(LONGEST_NAME, tokens.length - at); length > 0; length -= 1) {
    const name = query.slice(start, tokens[at + length - 1]?.end)
    if (tagsOf(name, naming).some(tag => tags.has(tag))) return length
  }
  return 0
}

function tagsOf(name: string, { canonicalTag, tagsFor }: Naming): readonly string[] {
  return tagsFor?.(name) ?? [canonicalTag?.(name) ?? name, name]
}

function isWord({ text, isNumber }: Token): boolean {
  return !isNumber && (text.match(/\p{L}/gu) ?? []).length >= 2
}
