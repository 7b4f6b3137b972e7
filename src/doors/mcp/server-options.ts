/** On whose behalf a server answers, and how, for as long as it lives. */
import type { Viewer } from '../../model/viewer.ts'

export interface ServerOptions {
  readonly viewer: Viewer
  /** For queries that name no lens. */
  readonly lens: string | undefined
  /** Whether answers are concise where a call does not say. Default: false. */
  readonly concise?: boolean | undefined
  /** Whether the client's requests count against its viewer's limits: over HTTP, not over standard input. */
  readonly remote?: boolean | undefined
  /** Where bugs are reported; default: standard error. */
  readonly log?: ((text: string) => void) | undefined
}
