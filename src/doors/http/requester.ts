/**
 * Who a request is answered as: whoever its signature or token says, or the local owner; and the local owner may look at
 * things as somebody else, by the header `querent-viewer`.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isHolderName } from '../../model/partition.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import type { RequestContext } from './env.ts'
import { isLoopback } from './guard.ts'
import { signedViewer } from './signed.ts'
import type { Authenticator } from './tokens.ts'

export const VIEWER_HEADER = 'querent-viewer'

/** What proxies add. Whoever asks through one on this machine connects from this machine, and is somewhere else. */
const PROXIED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Throws `unauthenticated`; `denied` for anybody else who would be another; `invalid_argument` for what is no name. */
export async function requesterOf(c: RequestContext, authenticator: Authenticator): Promise<Viewer> {
  const own = (await signedViewer(c)) ?? authenticator.viewerOf(c.req.header('authorization') ?? null, isDirect(c))
  const name = c.req.header(VIEWER_HEADER)
  if (name === undefined) return own
  if (!isOwner(own)) {
    throw new QuerentError('denied', `${VIEWER_HEADER}: only the local owner may ask as somebody else`, {
      field: VIEWER_HEADER,
    })
  }
  if (!isHolderName(name)) throw invalidArgument(VIEWER_HEADER, name, 'a name of 1 to 200 characters without blanks')
  return { id: name }
}

/** Whether it names this machine, and no proxy says that it was handed on. */
function isDirect(c: RequestContext): boolean {
  return !PROXIED.some(name => c.req.header(name) !== undefined) && isLoopback(new URL(c.req.url).hostname)
}
