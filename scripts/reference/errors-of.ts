/** Which codes an operation has beside those of any: as its effect and the fields of its input say. */
import { isRecord } from '../../src/base/record.ts'
import type { ErrorCode } from '../../src/model/errors.ts'
import type { EngineOperation } from '../../src/ops/catalog.ts'
import { code } from './markdown.ts'
import type { Schema } from './schema-text.ts'

const OF_FIELD: Readonly<Record<string, readonly ErrorCode[]>> = {
  lens: ['unknown_lens'],
  cursor: ['cursor_invalid', 'cursor_mismatch', 'cursor_expired'],
  resume_token: ['resume_invalid'],
}
/** Of the engine's own operations: what is named and is not there, and what is asked in the query language. */
const OF_OPERATION: Readonly<Record<string, readonly ErrorCode[]>> = {
  query: ['query_syntax'],
  watch: ['query_syntax'],
  explain: ['query_syntax', 'not_found'],
  similar: ['not_found'],
  get: ['not_found'],
  delete: ['not_found', 'denied'],
  backup: ['conflict'],
}
/** Lenses whose contract has codes of its own, and where they stand. */
const OF_LENS: Readonly<Record<string, string>> = {
  chroma: '[those of chroma](errors.md#chroma)',
  collections: '[those of collections](errors.md#collections)',
  context: '[those of context](errors.md#context), in the answer',
  beliefs: '[those of beliefs](errors.md#beliefs) alone',
  trust: '[those of beliefs](errors.md#beliefs) alone',
  agents: '[those of beliefs](errors.md#beliefs) alone',
  federations: '[those of beliefs](errors.md#beliefs) alone',
  peers: '[those of beliefs](errors.md#beliefs) alone',
}

export function errorsOf({ name, effect }: EngineOperation, input: Schema): string {
  const lens = OF_LENS[name.split('.')[0] ?? '']
  const owner: readonly ErrorCode[] = effect.ownerOnly === true ? ['denied'] : []
  if (lens !== undefined) return [...owner.map(link), lens].join(', ')
  const fields = isRecord(input['properties']) ? Object.keys(input['properties']) : []
  const codes = [...fields.flatMap(field => OF_FIELD[field] ?? []), ...(OF_OPERATION[name] ?? []), ...owner]
  return codes.map(link).join(', ')
}

function link(name: ErrorCode): string {
  return `[${code(name)}](errors.md#${name})`
}
