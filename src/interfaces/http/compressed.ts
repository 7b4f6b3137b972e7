/**
 * Answers are compressed for who takes them so. For whoever does not, the answer stays as it was made: the middleware would
 * make a copy of it to set a header, and a copy is sent as a stream.
 */
import type { MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import type { Env } from './env.ts'

const PACKED = /gzip|deflate|\*/i
const VARY = 'vary'

export function compressed(): MiddlewareHandler<Env> {
  const packing = compress()
  return async (c, next) => {
    if (PACKED.test(c.req.header('accept-encoding') ?? '')) return packing(c, next)
    await next()
    const varied = c.res.headers.get(VARY)
    // A cache must not give it to somebody who would have it compressed, and the other way round.
    if (varied === null) c.res.headers.set(VARY, 'Accept-Encoding')
    else if (!/\*|accept-encoding/i.test(varied)) c.res.headers.set(VARY, `${varied}, Accept-Encoding`)
  }
}
