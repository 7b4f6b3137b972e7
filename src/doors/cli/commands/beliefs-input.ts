/** What flags of `querent beliefs …` put into an input beyond its fields, and how these commands report failures. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { exitCodeFor } from '../failure.ts'
import { write } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { type Cli, tellAside } from '../run.ts'
import { parsed } from './input.ts'

/** A query as the operations take it: with filters by preset, domain and confidence, and the scopes that were named. */
export function queryOf(query: JsonObject, flags: Flags): JsonObject {
  const filters = filtersOf(flags)
  return {
    ...query,
    ...(filters.length > 0 && { filters: filters.length === 1 ? (filters[0] as Json) : filters }),
    context: { ...part(query, 'context'), ...objectIn(flags['context'], '--context') },
    options: { ...part(query, 'options'), scope: scopeOf(flags), ...objectIn(flags['options'], '--options') },
  }
}

function part(input: JsonObject, name: string): JsonObject {
  return isRecord(input[name]) ? (input[name] as JsonObject) : {}
}

/** What counts and lists has no page. */
export function withoutPage(query: JsonObject): JsonObject {
  const { limit: _, offset: __, ...options } = query['options'] as JsonObject
  return { ...query, options }
}

/** Without a flag: all that one may see. */
export function scopeOf({ local, federated, network }: Flags): JsonObject {
  const isAll = local === undefined && federated === undefined && network === undefined
  return { local: isAll || local === true, federated: isAll || federated === true, network: isAll || network === true }
}

function filtersOf({ filter = [], domain, minConfidence }: Flags): readonly Json[] {
  const own = {
    ...(domain !== undefined && { domains_include: domain as Json }),
    ...(minConfidence !== undefined && { min_confidence: minConfidence as Json }),
  }
  const given = (filter as readonly string[]).map(text =>
    /^\s*[[{]/.test(text) ? (parsed(text, '--filter') as Json) : text,
  )
  return [...(Object.keys(own).length > 0 ? [own] : []), ...given.flat()]
}

/** What a belief is to be, or what of it is to change. */
export function beliefOf(input: JsonObject, { confidence, type, from }: Flags): JsonObject {
  const { visibility, federation_ids, valid_until } = input
  const isDerived = type !== undefined || from !== undefined
  return {
    ...input,
    ...(visibility === undefined && federation_ids !== undefined && { visibility: 'federated' }),
    ...(confidence !== undefined && { confidence: objectIn(confidence, '--confidence') }),
    ...(isDerived && { derivation: derivationOf(type as string | undefined, from as readonly string[] | undefined) }),
    ...(valid_until === 'never' && { valid_until: null }),
  }
}

function derivationOf(type: string | undefined, from: readonly string[] = []): JsonObject {
  return { ...(type !== undefined && { type }), sources: from.map(sourceOf) }
}

/** An address refers to something outside; anything else is the id of a belief. */
function sourceOf(text: string): JsonObject {
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
export function objectIn(text: unknown, field: string): JsonObject {
  if (text === undefined) return {}
  const value = parsed(String(text), field)
  if (!isRecord(value)) throw invalidArgument(field, String(text), 'a JSON object')
  return value as JsonObject
}

/** For people, with every fault there is; for programs the whole error. Both on standard error. */
export async function reportedWithCode(cli: Cli, body: () => Promise<void>): Promise<void> {
  tellAside(cli)
  try {
    await body()
  } catch (error) {
    tellAside(cli)
    if (!(error instanceof QuerentError) || cli.errors !== 'text' || cli.signal.aborted) throw error
    await write(cli.io.stderr, failureText(error))
    cli.exitCode = exitCodeFor(error)
  }
}

function failureText({ code, message, details, help }: QuerentError): string {
  const faults = (details['all'] ?? []) as readonly { path: string; constraint: string }[]
  const others = faults.slice(1).map(({ path, constraint }) => `  ${path}: expected ${constraint}\n`)
  return `querent: ${code}: ${message}\n${others.join('')}  ${help}\n`
}
