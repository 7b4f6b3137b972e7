/** Words for describing parameters. */
import type { JsonObject } from '../../base/canonical.ts'

export const TEXT: JsonObject = { type: 'string' }
export const NUMBER: JsonObject = { type: 'number' }
export const FLAG: JsonObject = { type: 'boolean' }

export function listOf(properties: JsonObject): JsonObject {
  return { type: 'array', items: { type: 'object', properties } }
}
