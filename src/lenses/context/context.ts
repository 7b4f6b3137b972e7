/** The lens as a library: `call(path, params, emit?)`, as one viewer. */
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import { callHandler, type Emit } from './call.ts'
import { type CallInput, paramsOf } from './call-input.ts'
import type { Envelope } from './envelope.ts'
import { HANDLERS } from './handlers.ts'

export class Context {
  readonly #host: LensHost
  readonly #viewer: Viewer

  /** `host` is that of the lens: `engine.host('context')`. */
  constructor(host: LensHost, viewer: Viewer = LOCAL_OWNER) {
    this.#host = host
    this.#viewer = viewer
  }

  /** Never rejects: what goes wrong is in the envelope. */
  call(path: string, params: unknown = null, emit?: Emit, signal?: AbortSignal): Promise<Envelope> {
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, emit, signal })
  }

  /** As `call`, with parameters as an argument of a command line. */
  callText(path: string, argument: string | undefined, input: CallInput, signal?: AbortSignal): Promise<Envelope> {
    const params = () => paramsOf(argument, input)
    return callHandler(HANDLERS, this.#host, path, params, { viewer: this.#viewer, signal })
  }
}
