/** Opens an engine with only the lens `context`, and offers the lens's calls for one viewer. */

import type { Engine } from '../engine/engine.ts'
import { openEngine } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import { Context } from '../lenses/context/operations.ts'
import { LOCAL_OWNER, type Viewer } from '../model/viewer.ts'

export interface OpenContextOptions extends EngineOptions {
  /** Viewer for whom the lens's calls run; default the local owner. */
  readonly viewer?: Viewer | undefined
}

/** The lens `context` with the engine that was opened for it; closing it closes the engine. */
export class OpenContext extends Context implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine, viewer: Viewer) {
    super(engine.host('context'), viewer)
    this.engine = engine
  }

  /** The lens's calls for another viewer, on the store of this opened lens. */
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

/**
 * Opens an engine with the lens `context`; without options, on the store of the working folder. Example of a call: `await
 * sys.call('/context/query', { query: 'login' })`.
 */
export async function openContext({ viewer, ...options }: OpenContextOptions = {}): Promise<OpenContext> {
  return new OpenContext(await openEngine({ onlyLenses: ['context'], ...options }), viewer ?? LOCAL_OWNER)
}

/** The calls of the lens `context` on an engine that is already open. */
export function contextOf(engine: Engine, viewer: Viewer): Context {
  return new Context(engine.host('context'), viewer)
}
