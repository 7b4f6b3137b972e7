/** What the lens keeps in one engine between questions. */
import type { LensHost } from '../../lens.ts'
import { Transcripts } from './transcripts.ts'
import { Workspace } from './workspace.ts'

export interface ConversationsState {
  readonly transcripts: Transcripts
  readonly workspace: Workspace
}

const STATES = new WeakMap<LensHost, ConversationsState>()

export function stateOf(host: LensHost): ConversationsState {
  const known = STATES.get(host) ?? { transcripts: new Transcripts(host.store), workspace: new Workspace() }
  STATES.set(host, known)
  return known
}
