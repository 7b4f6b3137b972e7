/** Streams of one query as tests read them, in a world of their own. */
import { streamInCall } from '../../../../../src/lenses/beliefs/operations/question-ops.ts'
import type { QueryChunk } from '../../../../../src/lenses/beliefs/paging/reading.ts'
import { parseRequest } from '../../../../../src/lenses/beliefs/schema/faults.ts'
import { type Query, streamedInput } from '../../../../../src/lenses/beliefs/schema/query.ts'
import type { Json } from '../../../../support/beliefs-engine.ts'
import { EVERYWHERE } from '../../../../support/beliefs-paging.ts'
import { World } from './world.ts'

const QUERY = { semantic: 'fox honey', options: { scope: EVERYWHERE } }

export function inputOf(options: Json): Json {
  return { ...QUERY, options: { ...QUERY.options, ...options } }
}

/** Timers that run when the test says so. */
export class Timers {
  readonly set = new Map<object, { readonly ms: number; readonly run: () => void }>()

  readonly timer = (ms: number, run: () => void): (() => void) => {
    const key = {}
    this.set.set(key, { ms, run })
    return () => this.set.delete(key)
  }

  fire(): void {
    for (const [key, { run }] of [...this.set]) {
      this.set.delete(key)
      run()
    }
  }
}

export function streamOf(
  world: World,
  options: Json,
  { signal = new AbortController().signal, timers = new Timers() } = {},
): AsyncIterableIterator<QueryChunk> {
  const context = { viewer: { id: 'ann' }, signal }
  // The cast: a query, whose options may ask for a stream.
  const input = parseRequest(streamedInput, inputOf(options)) as Query
  const stream = streamInCall(world.engine.host('beliefs'), input, context, timers.timer)
  return stream as AsyncIterableIterator<unknown> as AsyncIterableIterator<QueryChunk>
}

export function asJson(world: World, options: Json): Promise<Json> {
  return world.call('beliefs.query', 'ann', inputOf(options))
}

export async function allOf(stream: AsyncIterable<QueryChunk>): Promise<readonly QueryChunk[]> {
  const chunks: QueryChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

export async function filled(count: number): Promise<World> {
  const world = await World.open()
  await world.fill(count)
  return world
}
