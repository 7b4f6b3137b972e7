/**
 * All operations in one fixed order: first the engine's own, then those of each lens. All interfaces look operations up here, so that an
 * unknown name gives the same error everywhere.
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

/** Operations by name, in the order in which they are listed. */
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

/** The operations that work on files or on the whole store, in which every lens may take part. */
const OF_THE_STORE: ReadonlySet<EngineOperation> = new Set([
  ...[add, sync, status, doctor, backup, exportAll, importAll, lenses],
])

export function makeCatalog(engine: Pick<Engine, 'lensOperations'>): Catalog {
  const ofLenses = engine.lensOperations.map(({ lens, operation }) => onHost(lens, operation))
  return new Map([...CORE, ...ofLenses].map(operation => [operation.name, operation]))
}

/** Alternative names of operations, with the main name of each; listings show only main names. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['enrich', 'c64.enrich'],
  ['remember', 'conversations.remember'],
  ['recall', 'conversations.query'],
])

/** The main name of an operation, given its main name or an alternative one. */
export function fullName(name: string): string {
  return ALIASES.get(name) ?? name
}

/**
 * An operation of the engine or of a built-in lens by name, found without opening an engine; undefined: there is no operation with this
 * name.
 */
export async function declaredOperation(alias: string): Promise<Operation | undefined> {
  const name = fullName(alias)
  const operations = (await builtInLensOf(name)?.load())?.operations ?? CORE
  // The cast is safe: before an engine is open, nothing depends on the type of the operation's host.
  return operations.find(operation => operation.name === name) as Operation | undefined
}

/** Operations of a built-in lens whose names begin with the given family, such as `trust` for `trust.set`. */
export async function declaredOperations(family: string): Promise<readonly Operation<never>[]> {
  const operations = (await builtInLensOf(family)?.load())?.operations ?? []
  return operations.filter(({ name }) => name.startsWith(`${family}.`))
}

/** Names of the lenses, besides the default one, that must be loaded to run an operation with this input; undefined: all lenses. */
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

/**
 * The operation with this name, in a catalogue of operations. Throws `unknown_operation`, which names operations with a similar spelling.
 */
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

/** Finds an operation by name and runs it. */
export async function callOperation(
  catalog: Catalog,
  engine: Engine,
  name: string,
  input: unknown,
  context: CallContext,
): Promise<unknown> {
  return runOperation(findOperation(catalog, name), engine, input, context)
}

// JSON Schemas (version 2020-12) of an operation's input and output, made from its zod schemas, for interfaces that publish them.

export interface OperationDescription {
  readonly name: string
  readonly summary: string
  readonly effect: {
    readonly kind: 'read' | 'write' | 'destroy'
    readonly idempotent: boolean
    readonly owner_only: boolean
  }
  /** Whether the operation has a streamed form. */
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

/** If the schema is only a reference, replaces it by the definition in its `$defs` to which it refers. */
function withRoot({ $ref, ...schema }: JsonObject): JsonObject {
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined
  if (name === undefined) return schema
  const { [name]: root, ...$defs } = schema['$defs'] as JsonObject
  return { ...schema, ...(root as JsonObject), ...(Object.keys($defs).length > 0 && { $defs }) }
}

/** Gives zod the metadata of schemas without their ids, so that the JSON Schema has no named definitions. */
class Nameless extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S): z.core.GlobalMeta | undefined {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {}
    return said
  }
}
const NAMELESS = new Nameless()

/**
 * Converts a zod schema to JSON Schema: `input` describes accepted values, `output` returned ones. `named`: a schema with an `id` in zod's
 * registry, such as `Filter`, is defined once in `$defs`; `inline`: it is repeated wherever it is used, for readers that do not follow
 * references.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', form: 'named' | 'inline' = 'inline'): JsonObject {
  const metadata = form === 'named' ? z.globalRegistry : NAMELESS
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    metadata,
    override: ({ zodSchema, jsonSchema }) => {
      // Zod omits examples wherever part of a schema transforms its input. The examples here are already in the form in which callers send
      // values, so they are added again.
      const examples = metadata.get(zodSchema)?.['examples']
      if (Array.isArray(examples)) jsonSchema['examples'] = examples
    },
  })
  // The cast is safe: a JSON Schema is plain JSON, though zod's type for it also allows methods and undefined.
  return made as unknown as JsonObject
}
