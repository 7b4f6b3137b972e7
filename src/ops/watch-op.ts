/** Watching: a subscription, and an event for each change of its answer. */
import type { Engine } from '../engine/engine.ts'
import { watchInput } from '../model/live-input.ts'
import { watchOperation } from '../model/watch-operation.ts'

export const watch = watchOperation({
  name: 'watch',
  summary: 'Query, then report changes of the answer as they happen',
  input: watchInput,
  subscribe: (engine: Engine, input, handlers, context) => engine.subscribe(input, handlers, context),
})
