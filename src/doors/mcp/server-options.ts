/** Who asks, and how, for as long as a server of theirs lives. */
import type { Viewer } from '../../model/viewer.ts'

export interface ServerOptions {
  readonly viewer: Viewer
  /** Questions that name no lens ask through this one. */
  readonly lens: string | undefined
  /** Whether the client's requests count against its viewer's limits: over HTTP, not over standard input. */
  readonly remote?: boolean | undefined
  /** Where bugs are reported; default: standard error. */
  readonly log?: ((text: string) => void) | undefined
}
