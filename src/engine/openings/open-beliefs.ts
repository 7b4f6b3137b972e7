/** The lens `beliefs` on its own: an engine with it, and its operations as methods for one agent. */
import { Beliefs } from '../../lenses/beliefs/beliefs.ts'
import type { SampleReport } from '../../lenses/beliefs/sample/load.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { Engine } from '../engine.ts'
import { openEngine } from '../open.ts'
import type { EngineOptions } from '../options.ts'

export interface OpenBeliefsOptions extends EngineOptions {
  /** Who asks; default the agent `owner`. */
  readonly viewer?: Viewer | undefined
}

/** Closing it closes the engine. */
export class OpenBeliefs extends Beliefs implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine, viewer: Viewer) {
    super(engine.host('beliefs'), viewer)
    this.engine = engine
  }

  /** The same store for another agent. */
  as(viewer: Viewer | string): Beliefs {
    return new Beliefs(this.engine.host('beliefs'), typeof viewer === 'string' ? { id: viewer } : viewer)
  }

  /** Some 300 beliefs of twelve agents, to try it on. Waits for vectors. */
  async loadSample(): Promise<SampleReport> {
    const { loadBeliefsSample } = await import('./sample-beliefs.ts')
    return loadBeliefsSample(this.engine, this.viewer)
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Without options: the store of the working folder. */
export async function openBeliefs({ viewer, ...options }: OpenBeliefsOptions = {}): Promise<OpenBeliefs> {
  return new OpenBeliefs(await openEngine({ onlyLenses: ['beliefs'], ...options }), viewer ?? LOCAL_OWNER)
}
