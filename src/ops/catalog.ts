/**
 * All operations in one order: the engine's own, then each lens's. An interface finds them here, and the
 * error for an unknown name is the same everywhere.
 */
import { nearNames } from '../base/near-names.ts'
import type { Engine } from '../engine/engine.ts'
import { type EngineOperation, onHost, runOperation } from '../engine/run-operation.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext } from '../model/operation.ts'
import { backup, doctor, lenses, status } from './admin-ops.ts'
import { bench } from './bench-op.ts'
import { brief } from './brief-op.ts'
import { get, list, put, remove, touch } from './entry-ops.ts'
import { add, exportAll, importAll } from './ingest-ops.ts'
import { mirror } from './mirror-op.ts'
import { count, explain, query, similar } from './query-ops.ts'
import { suggest } from './suggest-op.ts'
import { watch } from './watch-op.ts'

export { type EngineOperation, runOperation, streamOperation } from '../engine/run-operation.ts'

/** Operations by name, in the order that listings show. */
export type Catalog = ReadonlyMap<string, EngineOperation>

const CORE: readonly EngineOperation[] = [
  query,
  explain,
  count,
  similar,
  watch,
  get,
  touch,
  list,
  suggest,
  put,
  add,
  remove,
  status,
  doctor,
  backup,
  exportAll,
  importAll,
  lenses,
  brief,
  bench,
  mirror,
]

export function makeCatalog(engine: Pick<Engine, 'lensOperations'>): Catalog {
  const ofLenses = engine.lensOperations.map(({ lens, operation }) => onHost(lens, operation))
  return new Map([...CORE, ...ofLenses].map(operation => [operation.name, operation]))
}

/** Other names that operations answer to; listings show the first one alone. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['enrich', 'c64.enrich'],
  ['remember', 'conversations.remember'],
  ['recall', 'conversations.query'],
])

/** The name that an operation is listed by. */
export function fullName(name: string): string {
  return ALIASES.get(name) ?? name
}

/** Throws `unknown_operation`, naming those that are spelled alike. */
export function findOperation(catalog: Catalog, name: string): EngineOperation {
  const operation = catalog.get(fullName(name))
  if (operation !== undefined) return operation
  const known = [...catalog.keys()]
  const near = nearNames(name, known)
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
  throw new QuerentError('unknown_operation', `there is no operation ${JSON.stringify(name.slice(0, 80))}${hint}`, {
    operation: name.slice(0, 80),
    near,
    known,
  })
}

/** `findOperation`, then `runOperation`. */
export async function callOperation(
  catalog: Catalog,
  engine: Engine,
  name: string,
  input: unknown,
  context: CallContext,
): Promise<unknown> {
  return runOperation(findOperation(catalog, name), engine, input, context)
}
