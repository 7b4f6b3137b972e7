/**
 * Signed statements: Ed25519 over the SHA-256 of the canonical JSON of RFC 8785 (keys sorted by UTF-16 unit, no white
 * space, shortest numbers), so that the order in which somebody wrote the members does not matter.
 */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json } from '../base/canonical.ts'
import { fromBase64Url, toBase64Url } from './encoding.ts'
import { type Keys, SIGNATURE_BYTES, type Verifier, verifierOf } from './keys.ts'

/** 32 bytes. Throws a RangeError for what has no canonical JSON: numbers that are not finite, half a surrogate pair, endless depth. */
export function statementHash(statement: Json): Uint8Array {
  if (!hasCanonicalJson(statement))
    throw new RangeError(`a statement is JSON of finite numbers and well-formed texts, ${MAX_LEVELS} levels deep`)
  return createHash('sha256').update(canonicalJson(statement)).digest()
}

/** In base64url, 86 characters. */
export function signStatement(keys: Keys, statement: Json): string {
  return toBase64Url(keys.sign(statementHash(statement)))
}

/** False for anything that is not a signature of this statement, however malformed. */
export function isStatementOf(by: string | Verifier, statement: Json, signature: string): boolean {
  const verifier = typeof by === 'string' ? verifierOf(by) : by
  const bytes = fromBase64Url(signature, SIGNATURE_BYTES)
  if (verifier === null || bytes === null || !hasCanonicalJson(statement)) return false
  return verifier.verify(statementHash(statement), bytes)
}

/** Far more than statements have, and far less than ends a stack that walks them. */
const MAX_LEVELS = 128

/** Whether another implementation would write the same canonical text, or any: what comes from outside may be anything. */
function hasCanonicalJson(value: unknown, levels = MAX_LEVELS): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed()
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      if (value === null) return true
      if (levels === 0) return false
      if (Array.isArray(value)) return value.every(item => hasCanonicalJson(item, levels - 1))
      return Object.entries(value).every(([key, item]) => key.isWellFormed() && hasCanonicalJson(item, levels - 1))
    default:
      return false
  }
}
