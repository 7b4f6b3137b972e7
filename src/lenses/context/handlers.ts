/** Every path there is. */
import { TEXT_HANDLERS } from './body/full-text.ts'
import { FILE_HANDLERS } from './body/handlers.ts'
import type { Handler } from './call.ts'
import { GRAPH_HANDLERS } from './graph/handlers.ts'
import { INDEX_HANDLER } from './indexing/index-run.ts'
import { CONCEPT_HANDLERS } from './mind/concepts.ts'
import { EDGE_HANDLERS } from './mind/edges.ts'
import { EXTRACT_HANDLER } from './mind/extract.ts'
import { PROVENANCE_HANDLERS } from './mind/provenance.ts'
import { QUERY_HANDLER } from './query/answer.ts'
import { IMPACT_HANDLER } from './questions/impact.ts'
import { MAP_HANDLER } from './questions/map.ts'
import { SYMBOL_HANDLERS } from './questions/symbols.ts'

const ALL = [
  QUERY_HANDLER,
  INDEX_HANDLER,
  EXTRACT_HANDLER,
  ...SYMBOL_HANDLERS,
  IMPACT_HANDLER,
  MAP_HANDLER,
  ...FILE_HANDLERS,
  ...TEXT_HANDLERS,
  ...CONCEPT_HANDLERS,
  ...EDGE_HANDLERS,
  ...PROVENANCE_HANDLERS,
  ...GRAPH_HANDLERS,
] as const

export type KnownHandler = (typeof ALL)[number]

export const HANDLERS: ReadonlyMap<string, Handler> = new Map(ALL.map(handler => [handler.path, handler]))
