/** Operations for tests of interfaces: each does one thing that an interface must pass on, and none needs an engine. */
import { z } from 'zod'
import type { Engine } from '../../src/engine/engine.ts'
import { UNLIMITED } from '../../src/identity/rates.ts'
import { QuerentError } from '../../src/model/errors.ts'
import type { CallContext, Operation } from '../../src/model/operation.ts'
import type { Catalog, EngineOperation } from '../../src/ops/catalog.ts'

/** For operations that use none, without limits; any other use of it throws. */
export const noEngine: Engine = Object.freeze({
  lenses: [],
  lensOperations: [],
  limits: UNLIMITED,
}) as unknown as Engine

export function operation(
  name: string,
  run: (input: Record<string, unknown>, context: CallContext) => unknown,
  more: Partial<Operation<Engine>> = {},
): EngineOperation {
  return {
    name,
    summary: `Test ${name}`,
    input: z.looseObject({}),
    output: z.looseObject({}),
    effect: { kind: 'read', idempotent: true },
    run: async (_engine, input, context) => run(input as Record<string, unknown>, context),
    ...more,
  }
}

export function catalogOf(...operations: readonly EngineOperation[]): Catalog {
  return new Map(operations.map(one => [one.name, one]))
}

/** Answers with its input and the viewer's id. */
export const echo: EngineOperation = operation('echo', (input, { viewer }) => ({ input, viewer: viewer.id }))

/** Breaks as a bug of ours would. */
export const bug: EngineOperation = operation('bug', () => {
  throw new TypeError('secret words of the inside')
})

export function failing(...[code, message, details]: ConstructorParameters<typeof QuerentError>): EngineOperation {
  return operation(`fail_${code}`, () => {
    throw new QuerentError(code, message, details)
  })
}
