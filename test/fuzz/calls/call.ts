/** Calls of operations, and who is who in the store that they are made on. */
import type { JsonObject } from '../../../src/base/canonical.ts'
import { HASHTAGS, nodeOf } from '../../support/chroma-nodes.ts'

export interface Call {
  readonly operation: string
  readonly viewer: string
  readonly input: JsonObject
  /** Whether the streamed form is asked for. */
  readonly streamed: boolean
}

export const OWNER_NAME = 'owner'
/** May not see what ben holds. */
export const REQUESTER = 'ana'
export const HIDER = 'ben'
/** A word in everything that ben keeps private. */
export const SECRET = 'zqsecretzq'

export function by(viewer: string, operation: string, input: JsonObject = {}, streamed = false): Call {
  return { operation, viewer, input, streamed }
}

export const NODE: JsonObject = {
  hashtags: HASHTAGS.python,
  label: 'Asyncio',
  content: 'Asyncio runs tasks.',
  metadata: { language: 'python' },
}

/** As `chroma.import` takes it. */
export function nodeDocument(id: string, hashtags: readonly string[]): JsonObject {
  return {
    version: 1,
    exported_at: 1_760_000_000,
    nodes: [nodeOf(id, hashtags, { created_at: 1_760_000_000 }) as JsonObject],
  }
}

/** As the first concepts of this store are numbered. */
export const CONCEPT = 1_825_013_208_449_025
export const ISO = '2026-02-01T00:00:00.000Z'
export const EVERYWHERE: JsonObject = { local: true, federated: true, network: true }
