/** Reads that a client may keep and ask for again: with a tag of their content, or 304 where the client has just that. */
import { etag } from 'hono/etag'
import type { RequestContext } from './env.ts'
import { VIEWER_HEADER } from './requester.ts'

const withETag = etag()

/** What is shown depends on the requester: no cache may share it. */
export async function conditional(c: RequestContext, response: Response): Promise<Response> {
  await withETag(c, async () => {
    c.res = response
  })
  c.header('cache-control', 'private, no-cache')
  c.header('vary', `authorization, ${VIEWER_HEADER}`, { append: true })
  return c.res
}
