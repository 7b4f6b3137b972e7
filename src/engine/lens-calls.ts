/** The operations of lenses as functions of the engine, for one viewer. */
import { type Calls, callsOf } from '../lenses/calls.ts'
import { BUILT_IN_LENSES } from '../lenses/registry.ts'
import type { CallContext, Operation } from '../model/operation.ts'
import { LOCAL_OWNER, type Viewer } from '../model/viewer.ts'
import type { Engine } from './engine.ts'
import { onHost, runOperation, streamOperation } from './run-operation.ts'

/** Made when they are used. Those of a lens that the engine does not have throw `unknown_lens`. */
export function lensCalls(engine: Engine, viewer: Viewer): Calls {
  const lenses = new Map([...BUILT_IN_LENSES, ...engine.lenses].map(lens => [lens.name, lens]))
  const calls = {}
  for (const { name: lens, families = [] } of lenses.values()) {
    const caller = callerOf(engine, lens, viewer)
    for (const family of [lens, ...families]) {
      const get = () => {
        engine.host(lens)
        const operations = engine.lensOperations.flatMap(of => (of.lens === lens ? of.operation : []))
        return callsOf(operations, family, caller)
      }
      Object.defineProperty(calls, family, { get, enumerable: true })
    }
  }
  return calls as Calls
}

/** With the calls of the local owner as its own properties. What the engine itself has of that name stays. */
export function withCalls(engine: Omit<Engine, keyof Calls>): Engine {
  const whole = engine as Engine
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(lensCalls(whole, LOCAL_OWNER)))) {
    if (!(name in engine)) Object.defineProperty(engine, name, property)
  }
  return whole
}

function callerOf(engine: Engine, lens: string, viewer: Viewer): Parameters<typeof callsOf>[2] {
  const completed = (context: Partial<CallContext>): CallContext => ({
    ...{ viewer, signal: new AbortController().signal },
    ...context,
  })
  const of = (operation: Operation<ReturnType<Engine['host']>>) => onHost(lens, operation)
  return {
    run: (operation, input, context) => runOperation(of(operation), engine, input, completed(context)),
    stream: (operation, input, context) => streamOperation(of(operation), engine, input, completed(context)),
  }
}
