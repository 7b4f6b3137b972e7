/** The lens `context` on its own: opens an engine with it, and offers its calls for one viewer. */

import type { Engine } from '../engine/engine.ts'
import { openEngine } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import { Context } from '../lenses/context/operations.ts'
import { LOCAL_OWNER, type Viewer } from '../model/viewer.ts'

export interface OpenContextOptions extends EngineOptions {
  /** Viewer for whom the lens is opened; default the local owner. */
  readonly viewer?: Viewer | undefined
}

/** An opened lens; closing it closes the engine. */
export class OpenContext extends Context implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine, viewer: Viewer) {
    super(engine.host('context'), viewer)
    this.engine = engine
  }

  /** The API on the same store for another viewer. */
  as(viewer: Viewer): Context {
    return contextOf(this.engine, viewer)
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Opens the lens; without options, on the store of the working folder. `await sys.call('/context/query', { query: 'login' })`. */
export async function openContext({ viewer, ...options }: OpenContextOptions = {}): Promise<OpenContext> {
  return new OpenContext(await openEngine({ onlyLenses: ['context'], ...options }), viewer ?? LOCAL_OWNER)
}

/** The calls on an engine that is already open. */
export function contextOf(engine: Engine, viewer: Viewer): Context {
  return new Context(engine.host('context'), viewer)
}
