/** The parameters of `/context/query`, checked in the order that decides which fault is told (CX-013). */
import type { StoreReader } from '../../../store/store.ts'
import { refusal } from '../envelope.ts'
import { lengthOf } from '../names.ts'
import { ParamReader, type Params } from '../params.ts'
import { mustBeInitialised } from '../parts.ts'

export const MODES = ['semantic', 'exact', 'hybrid'] as const
export type Mode = (typeof MODES)[number]

/**
 * Of neighbours. `breadth`: as they are reached; `weighted`: by what they were reached from; `closeness`: by a walk from all
 * anchors. `relevance`: as `closeness`, and the anchors by all that speaks for them.
 */
export const RANKS = ['breadth', 'weighted', 'closeness', 'relevance'] as const

export interface ContextRequest {
  /** Trimmed, not empty. */
  readonly query: string
  readonly depth: number
  readonly limit: number
  /** Null: as the first version of this call had it. */
  readonly mode: Mode | null
  readonly rank: (typeof RANKS)[number]
  readonly explain: boolean
  readonly snippet: 'head' | 'passage'
  /** Null: no bundle is packed. */
  readonly maxTokens: number | null
}

const DEFAULT_DEPTH = 1
const MOST_DEPTH = 2
const DEFAULT_LIMIT = 10
const MOST_LIMIT = 50
/** Characters without which meaning says nothing. */
export const LEAST_SEMANTIC = 3

/** Throws `Refusal`. */
export function readRequest(params: Params, store: StoreReader): ContextRequest {
  const first = new ParamReader(params)
  const query = first.question('query').trim()
  first.done()
  mustBeInitialised(store, 'body', 'mind')
  const reader = new ParamReader(params)
  const request: ContextRequest = {
    query,
    mode: reader.has('mode') ? reader.choice('mode', MODES, 'exact') : null,
    depth: reader.clamped('depth', DEFAULT_DEPTH, 0, MOST_DEPTH),
    limit: reader.clamped('limit', DEFAULT_LIMIT, 1, MOST_LIMIT),
    rank: reader.choice('rank', RANKS, 'breadth'),
    explain: reader.flag('explain'),
    snippet: reader.choice('snippet', ['head', 'passage'], 'head'),
    maxTokens: reader.has('max_tokens') ? Math.trunc(reader.weight('max_tokens', 0)) : null,
  }
  reader.done()
  if (request.mode === 'semantic' && lengthOf(query) < LEAST_SEMANTIC) {
    throw refusal('query', 'too_short', `semantic search requires query length >= ${LEAST_SEMANTIC}`)
  }
  return request
}
