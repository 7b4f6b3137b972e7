/** `GET /docs`: what `/openapi.json` says, as a page to read and to try. */
import { fileURLToPath } from 'node:url'
import type { Env, Hono } from 'hono'
import { packageUrl } from '../../base/module-url.ts'
import { servePage } from './page-files.ts'

/** Its style sheet has its pictures within it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const NOT_BUILT = 'The page is not built: npm run build. The document itself: /openapi.json\n'

export function serveDocsPage<E extends Env>(app: Hono<E>): void {
  const folder = fileURLToPath(packageUrl(import.meta.url, 'dist/docs'))
  servePage(app, { folder, path: '/docs', base: '/docs', policy: POLICY, notBuilt: NOT_BUILT })
}
