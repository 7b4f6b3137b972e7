/**
 * A built page, served to anybody, since it holds nothing of the store. Only names that are in its folder are answered, by
 * comparing texts: no path of a request ever reaches the disk.
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
  /** Absolute. Its files are read when the first of them is asked for. */
  readonly folder: string
  /** Address of its `index.html`. */
  readonly path: string
  /** What the addresses of its files begin with; ends without a slash. */
  readonly base: string
  /** What it may load. */
  readonly policy: string
  /** What is answered where the folder is not there. */
  readonly notBuilt: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Vite puts a hash of the content into these names: what they hold never changes. */
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

/** By the path of its address. Empty where nothing was built. */
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

// The web explorer: the built page at `/`.

const EXPLORER_POLICY =
  "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const EXPLORER_NOT_BUILT = 'The explorer is not built: npm run build\n'

/** `folder`: default: the one of this package. */
export function serveExplorer<E extends Env>(app: Hono<E>, folder: string = builtFolder()): void {
  servePage(app, { folder, path: '/', base: '', policy: EXPLORER_POLICY, notBuilt: EXPLORER_NOT_BUILT })
}

function builtFolder(): string {
  return fileURLToPath(packageUrl(import.meta.url, 'dist/explorer'))
}

// `GET /docs`: what `/openapi.json` says, as a page to read and to try.

/** Its style sheet has its pictures within it. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const DOCS_NOT_BUILT = 'The page is not built: npm run build. The document itself: /openapi.json\n'

export function serveDocsPage<E extends Env>(app: Hono<E>): void {
  const folder = fileURLToPath(packageUrl(import.meta.url, 'dist/docs'))
  servePage(app, { folder, path: '/docs', base: '/docs', policy: DOCS_POLICY, notBuilt: DOCS_NOT_BUILT })
}
