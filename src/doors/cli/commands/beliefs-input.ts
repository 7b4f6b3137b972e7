/** What the flags and words of `querent beliefs …` come to, as input of an operation. Ranges are the operation's to check. */
import type { JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { invalidArgument } from '../../../model/errors.ts'
import type { CommonFlags } from '../flags.ts'
import { type Input, parsed } from './input.ts'

export interface BeliefQueryFlags extends CommonFlags {
  readonly local?: true
  readonly federated?: true
  readonly network?: true
  readonly filter?: readonly string[]
  readonly domain?: readonly string[]
  readonly about?: readonly string[]
  readonly minConfidence?: number
  readonly trustWeight?: number
  readonly limit?: number
  readonly offset?: number
  readonly cursor?: string
  readonly stream?: true
  readonly explain?: true
  readonly derivation?: true
  readonly diverse?: true
  readonly dryRun?: true
  readonly context?: string
  readonly options?: string
}

export interface LiveFlags {
  readonly debounce?: number
  readonly removals: boolean
  readonly reranks?: true
  readonly maxEvents?: number
  readonly initial: boolean
  readonly resume?: string
  readonly count?: number
}

/** What the flags say of a live query, as the operation takes it. */
export function liveInput(flags: LiveFlags): Input {
  const { debounce, removals, reranks, maxEvents, initial, resume } = flags
  return {
    ...(debounce !== undefined && { debounce_ms: debounce }),
    ...(!removals && { include_removals: false }),
    ...(reranks && { include_reranks: true }),
    ...(maxEvents !== undefined && { max_events_per_minute: maxEvents }),
    ...(!initial && { notify_on_connect: false }),
    ...(resume !== undefined && { resume_token: resume }),
  }
}

export interface BeliefFlags extends CommonFlags {
  readonly id?: string
  readonly content?: string
  readonly domain?: readonly string[]
  readonly visibility?: string
  readonly federation?: readonly string[]
  readonly confidence?: string
  readonly type?: string
  readonly from?: readonly string[]
  readonly validFrom?: string
  readonly validUntil?: string
  readonly file?: string
  readonly wait: boolean
}

/** A query as the operations take it. Without words it lists what the filters let through. */
export function queryOf(words: readonly string[], flags: BeliefQueryFlags): Input {
  const filters = filtersOf(flags)
  const { about, trustWeight, limit, offset, cursor, explain, derivation, diverse, dryRun } = flags
  return {
    semantic: words.join(' '),
    ...(filters.length > 0 && { filters: filters.length === 1 ? filters[0] : filters }),
    context: {
      ...(about !== undefined && { query_domains: about }),
      ...(trustWeight !== undefined && { trust_weight: trustWeight }),
      ...objectIn(flags.context, '--context'),
    },
    options: {
      scope: scopeOf(flags),
      ...(limit !== undefined && { limit }),
      ...(offset !== undefined && { offset }),
      ...(cursor !== undefined && { cursor }),
      ...(explain && { include_explanation: true }),
      ...(derivation && { include_derivation: true }),
      ...(diverse && { diversity: { enabled: true } }),
      ...(dryRun && { dry_run: true }),
      ...objectIn(flags.options, '--options'),
    },
  }
}

/** What it counts and lists has no page, and nothing to explain. */
export function withoutPage(query: Input): Input {
  const { limit: _, offset: __, ...options } = query['options'] as Input
  return { ...query, options }
}

/** Without a flag: all that one may see. */
export function scopeOf({ local, federated, network }: BeliefQueryFlags): Input {
  if (local === undefined && federated === undefined && network === undefined) {
    return { local: true, federated: true, network: true }
  }
  return { local: local ?? false, federated: federated ?? false, network: network ?? false }
}

function filtersOf({ filter = [], domain, minConfidence }: BeliefQueryFlags): readonly unknown[] {
  const own = {
    ...(domain !== undefined && { domains_include: domain }),
    ...(minConfidence !== undefined && { min_confidence: minConfidence }),
  }
  const given = filter.map(text => (/^\s*[[{]/.test(text) ? parsed(text, '--filter') : text))
  return [...(Object.keys(own).length > 0 ? [own] : []), ...given.flat()]
}

/** What a belief is to be, or what of it is to change. */
export function beliefOf(flags: BeliefFlags): Input {
  const { id, domain, visibility, federation, confidence, validFrom, validUntil } = flags
  const derivation = derivationOf(flags)
  return {
    ...(id !== undefined && { id }),
    ...(domain !== undefined && { domains: domain }),
    ...(visibility !== undefined && { visibility }),
    ...(visibility === undefined && federation !== undefined && { visibility: 'federated' }),
    ...(federation !== undefined && { federation_ids: federation }),
    ...(confidence !== undefined && { confidence: objectIn(confidence, '--confidence') }),
    ...(derivation !== undefined && { derivation }),
    ...(validFrom !== undefined && { valid_from: validFrom }),
    ...(validUntil !== undefined && { valid_until: validUntil === 'never' ? null : validUntil }),
  }
}

function derivationOf({ type, from }: BeliefFlags): Input | undefined {
  if (type === undefined && from === undefined) return undefined
  return { ...(type !== undefined && { type }), sources: (from ?? []).map(sourceOf) }
}

/** An address is a reference to something outside; anything else the id of a belief. */
function sourceOf(text: string): Input {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { external_ref: text } : { belief_id: text }
}

/** `science/biology=0.9`, as often as given, in one object. */
export function levelsOf(pairs: readonly string[], field: string): JsonObject {
  return Object.fromEntries(
    pairs.map(pair => {
      const [, domain, level] = /^(.+)=([^=]+)$/.exec(pair) ?? []
      if (domain === undefined || level === undefined) throw invalidArgument(field, pair, 'domain=level')
      return [domain, Number(level)]
    }),
  )
}

/** Without a text: nothing. Throws `invalid_json`, and `invalid_argument` for what is no object. */
export function objectIn(text: string | undefined, field: string): JsonObject {
  if (text === undefined) return {}
  const value = parsed(text, field)
  if (!isRecord(value)) throw invalidArgument(field, text, 'a JSON object')
  return value as JsonObject
}
