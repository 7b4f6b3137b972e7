import { isOwner } from '../../model/viewer.ts'
import type { Workspace } from '../../model/workspace.ts'
import type { Call } from './call.ts'
import { refusal } from './envelope.ts'

/** Only the local owner's calls look at the disk: it is the owner's. Throws `Refusal`. */
export function mustHaveWorkspace({ host, viewer }: Call): Workspace {
  if (host.workspace === undefined) throw refusal('body', 'no_workspace', 'this store belongs to no folder')
  if (!isOwner(viewer)) throw refusal('body', 'denied', 'files are read for the local owner only')
  return host.workspace
}
