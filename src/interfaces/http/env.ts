/** What a request carries with it through the app. */
import type { Context, Hono } from 'hono'
import type { Engine } from '../../engine/engine.ts'
import type { Viewer } from '../../model/viewer.ts'
import type { Catalog } from '../../ops/catalog.ts'
import type { After } from './stream.ts'

/** The same for all requests of a server. */
export interface AppContext {
  readonly engine: Engine
  readonly catalog: Catalog
  /** Aborted when the server is to end. */
  readonly ending: AbortSignal
  /** An answer that is not there after so many milliseconds is a failure; null: it may take as long as it takes. */
  readonly timeoutMs: number | null
  /** The longest body that is read; an operation may have a smaller bound of its own. */
  readonly maxBodyBytes: number
  /** Timers of streams. */
  readonly after: After
  /** Gets what is to be repaired here and told to nobody else. */
  readonly log: (text: string) => void
}

/** What is noted of a request while it is answered. */
export interface Notes {
  operation: string | null
  results: number | null
  /** Resolves when the last piece was sent, with the code of what ended it early; null: it is no stream. */
  stream: Promise<string | null> | null
}

/**
 * `viewer`: absent until the request is authenticated. `remote`: whether the limits of requesters apply; absent: no. `incoming`, `outgoing`: Node's request and
 * response, where there is a socket.
 */
export type Env = {
  Variables: { app: AppContext; requestId: string; notes: Notes; viewer?: Viewer; remote?: boolean }
  Bindings: {
    incoming?: { httpVersion: string; socket: { remoteAddress?: string } }
    outgoing?: { destroy(): void }
  }
}
export type App = Hono<Env>
export type RequestContext = Context<Env>

/** For routes that stand after the one that finds out who asks. */
export function viewerOf(c: RequestContext): Viewer {
  const viewer = c.get('viewer')
  if (viewer === undefined) throw new Error('invariant broken: a request without a viewer')
  return viewer
}

/** Absent where the app is called without a server. */
export function serverOf(c: RequestContext): RequestContext['env'] | undefined {
  return c.env as RequestContext['env'] | undefined
}
