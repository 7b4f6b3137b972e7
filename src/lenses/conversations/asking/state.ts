/** What the lens keeps in one engine between questions. */
import type { LensHost } from '../../lens.ts'
import { Transcripts } from './transcripts.ts'
import { Workspaces } from './workspace.ts'

export interface ConversationsState {
  readonly transcripts: Transcripts
  readonly workspaces: Workspaces
}

const STATES = new WeakMap<LensHost, ConversationsState>()

export function stateOf(host: LensHost): ConversationsState {
  const known = STATES.get(host) ?? { transcripts: new Transcripts(host.store), workspaces: new Workspaces() }
  STATES.set(host, known)
  return known
}
