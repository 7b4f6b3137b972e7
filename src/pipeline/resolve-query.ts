/** From what a caller sent (already checked by `queryInput`) to what the pipeline runs on: nothing optional, all resolved. */
import { canonicalJson, type JsonObject } from '../base/canonical.ts'
import type { Instant } from '../base/clock.ts'
import { invalidArgument } from '../model/errors.ts'
import type { FieldName, Filter } from '../model/filter.ts'
import { toInstant } from '../model/instant.ts'
import { type Position, QUERY_DEFAULTS, type Query } from '../model/query.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { Viewer } from '../model/viewer.ts'
import { readCursor } from './cursor.ts'
import { allOf, filterFromInput } from './filter-input.ts'

export interface Asked {
  readonly viewer: Viewer
  readonly now: Instant
  /** Signs cursors. */
  readonly secret: string
  /** The lens that answers when none is named. */
  readonly defaultLens: string
  /** Whether what a lens lists counts as used, where the request does not say. */
  readonly countsListing: (lens: string) => boolean
  /** Checks the options of a lens by its schema. Throws `unknown_field` and `invalid_argument`, naming `options.<name>`. */
  readonly optionsOf: (lens: string, given: Readonly<Record<string, unknown>>) => unknown
  /** Those that a filter may name. */
  readonly fields: readonly FieldName[]
}

/** What decides neither which entries come nor in which order: it may change from page to page. */
const FREE = ['cursor', 'limit', 'explain', 'trace', 'touch', 'timeout_ms', 'excerpt_length', 'passages', 'chunk_size']

/**
 * Throws `invalid_argument` (a period that ends before it begins, several passages of a result that is one), and what a
 * cursor is refused with.
 */
export function resolveQuery(input: QueryInput, asked: Asked): Query {
  const { group = QUERY_DEFAULTS.group, passages = 1 } = input
  if (group === 'passage' && passages > 1) {
    throw invalidArgument('passages', passages, '1, because with group passage each result is one passage')
  }
  const lens = input.lens ?? asked.defaultLens
  let text: string | null = null
  const binding = () => {
    text ??= bindingOf(input, lens, asked.viewer)
    return text
  }
  const start = startOf(input, binding, asked)
  const defaults = QUERY_DEFAULTS
  return {
    text: input.text,
    syntax: input.syntax ?? defaults.syntax,
    phrase: input.phrase ?? null,
    lens,
    options: asked.optionsOf(lens, input.options ?? {}),
    limit: input.limit ?? defaults.limit,
    cursor: input.cursor ?? null,
    after: start.after,
    binding,
    filter: conditionsOf(input, asked.fields),
    mode: input.mode ?? defaults.mode,
    meaningWeight: input.meaning_weight ?? null,
    memory: input.memory ?? defaults.memory,
    touch: input.touch ?? asked.countsListing(lens),
    diversity: input.diversity ?? defaults.diversity,
    perCollection: input.per_collection ?? null,
    perOrigin: input.per_origin ?? null,
    any: input.any ?? defaults.any,
    explain: input.explain ?? defaults.explain,
    trace: input.trace ?? defaults.trace,
    approximate: input.approximate ?? defaults.approximate,
    timeoutMs: input.timeout_ms ?? defaults.timeoutMs,
    excerptLength: input.excerpt_length ?? defaults.excerptLength,
    group,
    passages: input.passages ?? null,
    asOf: start.asOf,
    begun: start.begun,
  }
}

function bindingOf(input: QueryInput, lens: string, viewer: Viewer): string {
  const given = Object.entries(input).filter(([name, value]) => !FREE.includes(name) && value !== undefined)
  // Fields of objects may be present and undefined, which JSON does not have.
  const plain = JSON.parse(JSON.stringify(Object.fromEntries(given))) as JsonObject
  return canonicalJson({ plain, lens, viewer: viewer.id })
}

function startOf(
  input: QueryInput,
  binding: () => string,
  asked: Asked,
): { after: Position | null; asOf: Instant; begun: Instant } {
  const { secret, now } = asked
  if (input.cursor !== undefined) {
    const { position, asOf, begun } = readCursor(input.cursor, { secret, binding: binding(), now })
    return { after: position, asOf, begun }
  }
  return { after: null, asOf: input.as_of === undefined ? now : toInstant(input.as_of, 'as_of'), begun: now }
}

function conditionsOf(input: QueryInput, fields: readonly FieldName[]): Filter | null {
  const parts: Filter[] = input.filter === undefined ? [] : [...filterFromInput(input.filter, fields)]
  if (input.known_at !== undefined) {
    parts.push({ op: 'lte', field: 'known', value: toInstant(input.known_at, 'known_at') })
  }
  return allOf(parts)
}
