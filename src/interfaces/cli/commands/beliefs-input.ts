/** What flags of `querent beliefs …` put into an input beyond its fields, and how these commands report failures. */
import type { Json, JsonObject } from '../../../base/canonical.ts'
import { isRecord } from '../../../base/record.ts'
import { QuerentError } from '../../../model/errors.ts'
import { write } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { type Cli, errorsAside, exitCodeFor } from '../run.ts'
import { parsed } from './input.ts'

/** A query as the operations take it: with filters by preset, domain and confidence, and the scopes that were named. */
export function queryOf(query: JsonObject, flags: Flags): JsonObject {
  const filters = filtersOf(flags)
  const options = isRecord(query['options']) ? (query['options'] as JsonObject) : {}
  return {
    ...query,
    ...(filters.length > 0 && { filters: filters.length === 1 ? (filters[0] as Json) : filters }),
    options: { scope: scopeOf(flags), ...options },
  }
}

/** Without a flag: all that the viewer may see. */
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
export function beliefOf(input: JsonObject, { type, from }: Flags): JsonObject {
  const { visibility, federation_ids, valid_until } = input
  const sources = ((from ?? []) as readonly string[]).map(sourceOf)
  const isDerived = type !== undefined || from !== undefined
  return {
    ...input,
    ...(visibility === undefined && federation_ids !== undefined && { visibility: 'federated' }),
    ...(isDerived && { derivation: { ...(type !== undefined && { type: type as Json }), sources } }),
    ...(valid_until === 'never' && { valid_until: null }),
  }
}

/** An address refers to something outside; anything else is the id of a belief. */
function sourceOf(text: string): JsonObject {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { external_ref: text } : { belief_id: text }
}

/** For people, with every fault there is; for programs the whole error. Both on standard error. */
export async function reportedWithCode(cli: Cli, body: () => Promise<void>): Promise<void> {
  errorsAside(cli)
  try {
    await body()
  } catch (error) {
    errorsAside(cli)
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
