/**
 * All operations in one order: the engine's own, then each lens's. An interface finds them here, and the
 * error for an unknown name is the same everywhere.
 */
import { z } from 'zod'
import type { JsonObject } from '../base/canonical.ts'
import { didYouMean, nearNames } from '../base/near-names.ts'
import { isRecord } from '../base/record.ts'
import type { Engine } from '../engine/engine.ts'
import { type EngineOperation, onHost, runOperation } from '../engine/run-operation.ts'
import { builtInLensOf } from '../lenses/registry.ts'
import { QuerentError } from '../model/errors.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { backup, checkModel, doctor, lenses, mirror, models, status, useModel } from './admin-ops.ts'
import {
  add,
  brief,
  count,
  explain,
  exportAll,
  get,
  importAll,
  list,
  put,
  query,
  remove,
  similar,
  suggest,
  sync,
  touch,
  watch,
} from './query-ops.ts'

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
  sync,
  remove,
  status,
  doctor,
  backup,
  exportAll,
  importAll,
  lenses,
  brief,
  mirror,
  models,
  checkModel,
  useModel,
]

/** Those that concern files or the whole store, in which every lens may have a part. */
const OF_THE_STORE: ReadonlySet<EngineOperation> = new Set([
  ...[add, sync, status, doctor, backup, exportAll, importAll, lenses],
])

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

/** An operation of the engine or of a built-in lens, before any engine is open. Undefined: there is none. */
export async function declaredOperation(alias: string): Promise<Operation | undefined> {
  const name = fullName(alias)
  const operations = (await builtInLensOf(name)?.load())?.operations ?? CORE
  // The cast: the host of an operation does not matter before there is one.
  return operations.find(operation => operation.name === name) as Operation | undefined
}

/** Operations of a built-in lens whose names begin with this family. */
export async function declaredOperations(family: string): Promise<readonly Operation<never>[]> {
  const operations = (await builtInLensOf(family)?.load())?.operations ?? []
  return operations.filter(({ name }) => name.startsWith(`${family}.`))
}

/** The lenses beside the default one that an operation needs for this input. Undefined: all that there are. */
export function lensesFor(alias: string, input: unknown): readonly string[] | undefined {
  const name = fullName(alias)
  const own = builtInLensOf(name)
  if (own !== undefined) return [own.name]
  const operation = CORE.find(each => each.name === name)
  if (operation === undefined || OF_THE_STORE.has(operation)) return undefined
  const lens = lensIn(input) ?? (isRecord(input) ? lensIn(input['query']) : undefined)
  return lens === undefined ? [] : [lens]
}

function lensIn(input: unknown): string | undefined {
  const lens = isRecord(input) ? input['lens'] : undefined
  return typeof lens === 'string' ? lens : undefined
}

/** Throws `unknown_operation`, naming those that are spelled alike. */
export function findOperation(catalog: Catalog, name: string): EngineOperation {
  const operation = catalog.get(fullName(name))
  if (operation !== undefined) return operation
  const known = [...catalog.keys()]
  const near = nearNames(name, known)
  const shown = JSON.stringify(name.slice(0, 80))
  throw new QuerentError('unknown_operation', `there is no operation ${shown}${didYouMean(near)}`, {
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

// JSON Schemas (2020-12) of an operation, made from its zod schemas, for interfaces that publish them.

export interface OperationDescription {
  readonly name: string
  readonly summary: string
  readonly effect: {
    readonly kind: 'read' | 'write' | 'destroy'
    readonly idempotent: boolean
    readonly owner_only: boolean
  }
  /** Whether it has a streamed form. */
  readonly streams: boolean
  readonly input: JsonObject
  readonly output: JsonObject
}

export function describeOperation(operation: Operation): OperationDescription {
  const { kind, idempotent, ownerOnly = false } = operation.effect
  return {
    name: operation.name,
    summary: operation.summary,
    effect: { kind, idempotent, owner_only: ownerOnly },
    streams: operation.stream !== undefined,
    input: withRoot(jsonSchema(operation.input, 'input', 'named')),
    output: withRoot(jsonSchema(operation.output, 'output', 'named')),
  }
}

/** A schema that is only a reference to one of its `$defs`, as that one. */
function withRoot({ $ref, ...schema }: JsonObject): JsonObject {
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined
  if (name === undefined) return schema
  const { [name]: root, ...$defs } = schema['$defs'] as JsonObject
  return { ...schema, ...(root as JsonObject), ...(Object.keys($defs).length > 0 && { $defs }) }
}

/** What schemas say of themselves, without their names. */
class Nameless extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S): z.core.GlobalMeta | undefined {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {}
    return said
  }
}
const NAMELESS = new Nameless()

/**
 * `input` for what is accepted, `output` for what comes back. `named`: a schema with a name (`id` in zod's registry, such as `Filter`)
 * is once in `$defs`; else it is wherever it is used, for readers that follow no references.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', form: 'named' | 'inline' = 'inline'): JsonObject {
  const metadata = form === 'named' ? z.globalRegistry : NAMELESS
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata,
    override: ({ zodSchema, jsonSchema }) => {
      // Zod leaves examples out wherever something in the schema transforms; ours are written as they are sent.
      const examples = metadata.get(zodSchema)?.['examples']
      if (Array.isArray(examples)) jsonSchema['examples'] = examples
    },
  })
  // A JSON Schema is JSON; zod's type for it has methods and undefined.
  return made as unknown as JsonObject
}
