/** The web explorer: the built page at `/`. */
import { fileURLToPath } from 'node:url'
import type { Env, Hono } from 'hono'
import { packageUrl } from '../../base/module-url.ts'
import { servePage } from './page-files.ts'

const POLICY =
  "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const NOT_BUILT = 'The explorer is not built: npm run build\n'

/** `folder`: default: the one of this package. */
export function serveExplorer<E extends Env>(app: Hono<E>, folder: string = builtFolder()): void {
  servePage(app, { folder, path: '/', base: '', policy: POLICY, notBuilt: NOT_BUILT })
}

function builtFolder(): string {
  return fileURLToPath(packageUrl(import.meta.url, 'dist/explorer'))
}
