/**
 * Serves the files of a built web page. No authentication is needed, because they contain nothing from the store. The file names are read
 * from the folder in advance and compared with the URL as strings, so no path from a request ever reaches the file system.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context, Env, Hono } from 'hono'
import { packageUrl } from '../../base/module-url.ts'

interface PageFile {
  readonly content: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

interface BuiltPage {
  /** Absolute path of the folder with the page's files, which are read when the first of them is requested. */
  readonly folder: string
  /** URL path at which the page's `index.html` is served. */
  readonly path: string
  /** Prefix of the URL paths of the page's other files, without a slash at its end. */
  readonly base: string
  /** Content security policy sent with the page: what the browser may load for it. */
  readonly policy: string
  /** Text of the response if the folder does not exist because the page was not built. */
  readonly notBuilt: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/**
 * Matches names into which the build tool Vite puts a hash of the content; a file with such a name never changes and may be cached for
 * ever.
 */
const HASHED = /^\/assets\/.+-[\w-]{8}\.\w+$/

function servePage<E extends Env>(app: Hono<E>, page: BuiltPage): void {
  const { path, base, notBuilt } = page
  let files: ReadonlyMap<string, PageFile> = new Map()
  const answer = (c: Context): Response | null => {
    if (files.size === 0) files = readPage(page)
    const file = files.get(c.req.path === path ? `${base}/index.html` : c.req.path)
    return file === undefined ? null : fileResponse(c, file)
  }
  app.get(path, c => answer(c) ?? c.text(notBuilt, 503))
  app.get(`${base}/*`, async (c, next) => answer(c) ?? next())
}

function fileResponse(c: Context, { content, headers }: PageFile): Response {
  const known = (c.req.header('if-none-match') ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  const isKnown = known.includes(headers['etag'] as string) || known.includes('*')
  return isKnown ? c.body(null, 304, headers) : c.body(content, 200, headers)
}

/** All files of a page by their URL path; empty if the page was not built. */
function readPage({ folder, base, policy }: BuiltPage): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(folder, 'index.html'))) return new Map()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    entries.map(entry => {
      const file = join(entry.parentPath, entry.name)
      const path = `${base}/${file.slice(folder.length).split(sep).filter(Boolean).join('/')}`
      return [path, pageFile(path, new Uint8Array(readFileSync(file)), policy)]
    }),
  )
}

function pageFile(path: string, content: Uint8Array<ArrayBuffer>, policy: string): PageFile {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  const headers = {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'cache-control': HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': policy,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    etag: `"${hash}"`,
  }
  return { content, headers }
}

// Serves the web explorer, which is a built web page, at `/`.

const EXPLORER_POLICY =
  "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const EXPLORER_NOT_BUILT = 'The explorer is not built: npm run build\n'

/** Serves the web explorer. `folder`: folder of the built page; default: the one in this package. */
export function serveExplorer<E extends Env>(app: Hono<E>, folder: string = builtFolder()): void {
  servePage(app, { folder, path: '/', base: '', policy: EXPLORER_POLICY, notBuilt: EXPLORER_NOT_BUILT })
}

function builtFolder(): string {
  return fileURLToPath(packageUrl(import.meta.url, 'dist/explorer'))
}

// Serves at `GET /docs` a web page that shows the contents of `/openapi.json` and lets a user try the operations.

/**
 * Content security policy of the documentation page. Images are allowed as data URLs, because the style sheet contains them in that form.
 */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const DOCS_NOT_BUILT = 'The page is not built: npm run build. The document itself: /openapi.json\n'

export function serveDocsPage<E extends Env>(app: Hono<E>): void {
  const folder = fileURLToPath(packageUrl(import.meta.url, 'dist/docs'))
  servePage(app, { folder, path: '/docs', base: '/docs', policy: DOCS_POLICY, notBuilt: DOCS_NOT_BUILT })
}
