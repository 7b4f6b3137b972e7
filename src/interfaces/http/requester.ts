/**
 * The viewer that a request is answered as: whoever its signature or token says, or the local owner; the local owner may see
 * things as somebody else, by the header `querent-viewer`.
 */
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isHolderName } from '../../model/partition.ts'
import { isOwner, type Viewer } from '../../model/viewer.ts'
import { type RequestContext, serverOf } from './env.ts'
import { isLoopback } from './guard.ts'
import { signedViewer } from './signed.ts'
import type { Authenticator } from './tokens.ts'

export const VIEWER_HEADER = 'querent-viewer'

/**
 * Headers that proxies, content networks and tunnels add, also those that are known to nobody here: `Forwarded`, `X-Forwarded-*`, `Via`,
 * `CF-*`, and whatever holds an address by its name (`X-Real-IP`, `True-Client-IP`, `X-Remote-Addr`). No client sends these of itself.
 */
const FORWARDING =
  /^(?:via|cdn-loop|front-end-https|x-scheme)$|^(?:x-)?forwarded|^x-(?:original|envoy|arr|amzn|appengine|azure|vercel)-|^(?:cf|fly|tailscale)-|(?:^|-)(?:client)?(?:ip|addr|address)$/i

interface Requester {
  readonly viewer: Viewer
  /** Whether the limits of requesters apply. */
  readonly remote: boolean
}

/**
 * Throws `unauthenticated`; `rate_limited` where the address has sent too many wrong tokens lately; `denied` for anybody
 * but the owner who names a viewer; `invalid_argument` for a viewer that is no name.
 */
export async function requesterOf(c: RequestContext, authenticator: Authenticator): Promise<Requester> {
  const own = await authenticated(c, authenticator)
  const remote = !isOwner(own)
  const name = c.req.header(VIEWER_HEADER)
  if (name === undefined) return { viewer: own, remote }
  if (remote) {
    throw new QuerentError('denied', `${VIEWER_HEADER}: only the local owner may ask as somebody else`, {
      field: VIEWER_HEADER,
    })
  }
  if (!isHolderName(name)) throw invalidArgument(VIEWER_HEADER, name, 'a name of 1 to 200 characters without blanks')
  return { viewer: { id: name }, remote }
}

async function authenticated(c: RequestContext, authenticator: Authenticator): Promise<Viewer> {
  const signed = await signedViewer(c)
  if (signed !== null) return signed
  const authorization = c.req.header('authorization') ?? null
  try {
    return authenticator.viewerOf(authorization, isDirect(c))
  } catch (thrown) {
    const isWrong = thrown instanceof QuerentError && thrown.code === 'unauthenticated' && authorization !== null
    if (isWrong) c.get('app').engine.limits.failed(serverOf(c)?.incoming?.socket.remoteAddress ?? '')
    throw thrown
  }
}

/** Whether it names this machine, and nothing says that a proxy passed it on: those that add no header often speak HTTP/1.0. */
function isDirect(c: RequestContext): boolean {
  if (!isLoopback(new URL(c.req.url).hostname) || serverOf(c)?.incoming?.httpVersion === '1.0') return false
  return !Object.keys(c.req.header()).some(name => FORWARDING.test(name))
}
