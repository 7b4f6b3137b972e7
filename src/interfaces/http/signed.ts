/** Requests that bear a signature: who they are from. */
import type { Viewer } from '../../model/viewer.ts'
import { readBytes } from './body.ts'
import type { RequestContext } from './env.ts'

export function isSigned(headers: Headers): boolean {
  return /^querent-signature /i.test(headers.get('authorization') ?? '')
}

/** Null: it bears no signature. Its body, which the signature is over, can be read again. Throws `unauthenticated`, `too_large`, `cancelled`. */
export async function signedViewer(c: RequestContext): Promise<Viewer | null> {
  const { raw } = c.req
  if (!isSigned(raw.headers)) return null
  const body = await readBytes(raw, c.get('app').maxBodyBytes)
  const { pathname, search } = new URL(raw.url)
  const facts = { method: raw.method, path: pathname + search, body }
  const viewer = await c.get('app').engine.signedRequests.viewerOf(facts, name => raw.headers.get(name))
  const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD'
  c.req.raw = new Request(raw.url, {
    method: raw.method,
    headers: raw.headers,
    signal: raw.signal,
    ...(hasBody ? { body } : {}),
  })
  return viewer
}
