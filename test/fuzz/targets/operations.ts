/**
 * Every operation, through the library, over a store on a disk: an answer of the shape that is published, or an error one
 * can act on, the same when it is asked again; a refused write leaves all as it was; what is hidden shows nowhere.
 */
import fc from 'fast-check'
import { z } from 'zod'
import type { Json } from '../../../src/base/canonical.ts'
import type { QuerentError } from '../../../src/model/errors.ts'
import {
  type Catalog,
  type EngineOperation,
  findOperation,
  jsonSchema,
  streamOperation,
} from '../../../src/ops/catalog.ts'
import { type Call, HIDER, OWNER_NAME, REQUESTER, SECRET } from '../calls/call.ts'
import { SEED_CALLS } from '../calls/seed-calls.ts'
import { SETUP } from '../calls/setup.ts'
import { edited, jsonEdit, said, schemaArbitraries, type Target } from '../inputs.ts'
import { assertAlike, assertRefusal, must } from '../oracles.ts'
import { dumpOf, inside, openWorld, type World } from '../world.ts'

/** Seconds of work whatever is asked, by design. */
const LEFT_OUT = new Set(['beliefs.diagnostics'])
const SEEDS: readonly AnyCall[] = SEED_CALLS

const WORDS = [
  'fox',
  'tag:',
  '"',
  '+',
  '-',
  '^2',
  '#python',
  '$D020',
  '%101',
  SECRET,
  'b1',
  'n1',
  REQUESTER,
  HIDER,
  OWNER_NAME,
  'lab',
  '2026-01-01',
]

/** Any JSON can be the input of such a call. */
export type AnyCall = Omit<Call, 'input'> & { readonly input: Json }

/** Calls near to good ones, and calls made from the schemas of the catalog. */
export async function callsNear(): Promise<(good: readonly AnyCall[]) => fc.Arbitrary<AnyCall>> {
  await using world = await openWorld()
  const inputs = [...world.catalog.values()]
    .filter(({ name }) => !LEFT_OUT.has(name))
    .map(({ name, input }) => [name, jsonSchema(input, 'input')] as const)
  const viewers = fc.constantFrom(REQUESTER, HIDER, OWNER_NAME, 'stranger')
  return good => {
    const examples = [...good, ...SETUP].map(call => call.input)
    const fromSchema = schemaArbitraries(examples)
    const made = fc.oneof(
      ...inputs.map(([operation, schema]) =>
        fc.record({
          operation: fc.constant(operation),
          viewer: viewers,
          input: fromSchema(schema),
          streamed: fc.boolean(),
        }),
      ),
    )
    const edit = fc.oneof(
      {
        weight: 8,
        arbitrary: jsonEdit(WORDS, examples).map(change => (call: AnyCall) => ({ ...call, input: change(call.input) })),
      },
      viewers.map(viewer => (call: AnyCall) => ({ ...call, viewer })),
      fc.constant((call: AnyCall) => ({ ...call, streamed: !call.streamed })),
      fc.constantFrom(...inputs).map(([operation]) => (call: AnyCall) => ({ ...call, operation })),
    )
    return fc.oneof({ weight: 3, arbitrary: edited(good, edit) }, made)
  }
}

export async function operationsTarget(): Promise<Target<AnyCall>> {
  return {
    near: await callsNear(),
    seeds: SEEDS,
    lifetime: 150,
    open: async () => {
      const world = await openWorld()
      return { try: call => tryCall(world, call), close: async () => world[Symbol.asyncDispose]() }
    },
  }
}

async function tryCall(world: World, call: AnyCall): Promise<void> {
  const input = said(call.input)
  if (call.streamed && isStreamed(world.catalog, call)) return tryStream(world, call, input)
  const before = kindOf(world.catalog, call) === 'read' ? null : await dumpOf(world.engine)
  const answer = await answered(world, call, input)
  if ('error' in answer) {
    assertHides(call, [answer.error.message, answer.error.details])
    if (before !== null)
      must(before === (await dumpOf(world.engine)), `a refused ${call.operation} has changed the store`)
    if (answer.error.kind !== 'usage') return
    const again = await answered(world, call, input)
    must('error' in again, `${call.operation} was refused, then answered`)
    assertAlike(answer.error, again.error)
    return
  }
  assertHides(call, answer.result)
  assertShape(world.catalog, call, answer.result)
}

type Answer = { readonly error: QuerentError } | { readonly result: unknown }

async function answered(world: World, call: AnyCall, input: unknown): Promise<Answer> {
  try {
    return { result: await world.call(call, input) }
  } catch (thrown) {
    return { error: assertRefusal(thrown) }
  }
}

function assertShape(catalog: Catalog, { operation }: AnyCall, result: unknown): void {
  const wire: unknown = JSON.parse(JSON.stringify(result))
  const { error } = publishedShape(findOperation(catalog, operation)).safeParse(wire)
  must(
    error === undefined,
    `the answer of ${operation} has another shape: ${error?.issues[0]?.path.join('.')}: ${error?.issues[0]?.message}`,
  )
  if (isException(wire)) throw new Error(`${operation}: ${JSON.stringify(wire)}`)
}

const SHAPES = new Map<string, z.ZodType>()

/** As clients read it. */
function publishedShape({ name, output }: EngineOperation): z.ZodType {
  const shape = SHAPES.get(name) ?? z.fromJSONSchema(readable(jsonSchema(output, 'output')))
  SHAPES.set(name, shape)
  return shape
}

/** Zod reads patterns without the flag `u`, by which JSON Schema means them: without it classes such as `\p{Cc}` are their letters. */
function readable(schema: object): Parameters<typeof z.fromJSONSchema>[0] {
  const isReadable = (name: string, value: unknown) => name !== 'pattern' || !String(value).includes('\\p{')
  return JSON.parse(JSON.stringify(schema, (name, value) => (isReadable(name, value) ? value : undefined)))
}

/** How the envelope of the lens `context` tells a failure that nobody foresaw. */
function isException(wire: unknown): boolean {
  return (
    typeof wire === 'object' && wire !== null && 'errors' in wire && JSON.stringify(wire.errors).includes('"exception"')
  )
}

/** Unless it was said by the requester. */
function assertHides(call: AnyCall, result: unknown): void {
  if (call.viewer !== REQUESTER && call.viewer !== 'stranger') return
  const asked = JSON.stringify(call.input)
  if (asked.includes(SECRET.slice(0, 4))) return
  must(!(JSON.stringify(result) ?? '').includes(SECRET), `${call.operation} shows what is hidden`)
}

/** Some of its pieces; then the reader leaves. A live query need not have any. */
async function tryStream(world: World, call: AnyCall, input: unknown): Promise<void> {
  const controller = new AbortController()
  const leave = setTimeout(() => controller.abort(), 30)
  const context = { viewer: { id: call.viewer }, signal: controller.signal }
  const operation = findOperation(world.catalog, call.operation)
  let pieces = 0
  try {
    for await (const piece of streamOperation(
      operation,
      world.engine,
      inside(call.operation, input, world.folder),
      context,
    )) {
      assertHides(call, piece)
      if (++pieces === 4) break
    }
  } catch (thrown) {
    assertHides(call, assertRefusal(thrown).message)
  } finally {
    clearTimeout(leave)
  }
}

function isStreamed(catalog: Catalog, { operation }: AnyCall): boolean {
  return catalog.get(operation)?.stream !== undefined
}

function kindOf(catalog: Catalog, { operation }: AnyCall): 'read' | 'write' | 'destroy' {
  return catalog.get(operation)?.effect.kind ?? 'read'
}
