/** Operations that every lens with a query offers besides it, all made by this code: explain, count and watch (QE-020). */
import { z } from 'zod'
import { MAX_ID_LENGTH } from '../model/limits.ts'
import { LIVE_FIELDS, type LiveInput, watchOperation } from '../model/live.ts'
import { countOutput, explainOutput } from '../model/page.ts'
import { costOfAsking, costOfCounting, type Priced, type QueryInput } from '../model/query-input.ts'
import type { LensHost } from './lens.ts'
import { lensOperation, type NamedOperation } from './lens-operation.ts'

export interface QueryForm<Name extends string, Input extends z.ZodObject> {
  /** Name of the lens, with which its operations' names begin. */
  readonly name: Name
  /**
   * Schema of those fields of the lens's query input that decide which items the answer has; the cursor and the format of results are left
   * out.
   */
  readonly input: Input
  /** Converts the lens's input to a query of the common pipeline. */
  toQuery(host: LensHost, input: z.output<Input>): QueryInput
}

/** Input of the explain operation; written by hand, since the compiler cannot derive it from a schema with a generic part. */
interface Explained<Query> {
  readonly query: Query
  readonly id: string
  readonly over?: string | undefined
}

const id = z.string().min(1).max(MAX_ID_LENGTH)

/**
 * The operations `<name>.explain`, `<name>.count` and `<name>.watch`, over the embedded store.
 *
 * @example
 * [query, ...queryOperations({ name: 'c64', input, toQuery })]
 */
export function queryOperations<const Name extends string, Input extends z.ZodObject>({
  name,
  input,
  toQuery,
}: QueryForm<Name, Input>) {
  const explain = lensOperation({
    name: `${name}.explain`,
    summary: `Explain why a result of ${name}.query has its rank, why it is missing, or why it ranks above another`,
    input: z.strictObject({
      query: input.describe('Query whose result is explained'),
      id: id.describe('Id of the entry to explain'),
      over: id
        .optional()
        .describe('Id of another entry to compare with: why the first ranks above it or does not. Default: none'),
    }),
    output: explainOutput,
    effect: { kind: 'read', idempotent: true },
    cost: asked => costOfAsking({ ...(asked as unknown as Explained<Priced>).query, explain: true }),
    run: (host, asked, call) => {
      const { query, ...target } = asked as unknown as Explained<z.output<Input>>
      return host.explain({ query: toQuery(host, query), ...target }, call)
    },
  })
  const count = lensOperation({
    name: `${name}.count`,
    summary: `Count the results of a ${name}.query on all pages`,
    input,
    output: countOutput,
    effect: { kind: 'read', idempotent: true },
    cost: asked => costOfCounting(asked as Priced),
    run: (host, asked, call) => host.count(toQuery(host, asked), call),
  })
  const watch = watchOperation({
    name: `${name}.watch`,
    summary: `Run ${name}.query, then report changes of the answer as they happen`,
    input: input.extend(LIVE_FIELDS),
    subscribe: (host: LensHost, asked, handlers, call) => {
      const live = Object.fromEntries(
        Object.entries(asked as object).filter(([key]) => key in LIVE_FIELDS),
      ) as LiveInput
      const own = Object.fromEntries(Object.entries(asked as object).filter(([key]) => !(key in LIVE_FIELDS)))
      const { cursor: _cursor, touch: _touch, trace: _trace, ...query } = toQuery(host, own as z.output<Input>)
      return host.subscribe({ ...query, ...live }, handlers, call)
    },
  })
  return [explain, count, watch as NamedOperation<`${Name}.watch`, typeof watch.input, typeof watch.output>] as const
}
