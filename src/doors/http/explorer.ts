/**
 * The web explorer: the built page, served to anybody, since it holds nothing of the store. Only names that are in the
 * folder are answered, by comparing texts: no path of a request ever reaches the disk.
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

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

const POLICY =
  "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** Vite puts a hash of the content into these names: what they hold never changes. */
const HASHED = /^\/assets\/.+-[\w-]{8}\.\w+$/

const NOT_BUILT = 'The explorer is not built: npm run build\n'

/** `folder`: default: the one of this package. Its files are read when the first of them is asked for. */
export function serveExplorer<E extends Env>(app: Hono<E>, folder: string = builtFolder()): void {
  let files: ReadonlyMap<string, PageFile> = new Map()
  app.get('*', async (c, next) => {
    if (files.size === 0) files = readPage(folder)
    const path = c.req.path === '/' ? '/index.html' : c.req.path
    const file = files.get(path)
    if (file !== undefined) return fileResponse(c, file)
    return c.req.path === '/' ? c.text(NOT_BUILT, 503) : next()
  })
}

function builtFolder(): string {
  return fileURLToPath(packageUrl(import.meta.url, 'dist/explorer'))
}

function fileResponse(c: Context, { content, headers }: PageFile): Response {
  const known = (c.req.header('if-none-match') ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  const isKnown = known.includes(headers['etag'] as string) || known.includes('*')
  return isKnown ? c.body(null, 304, headers) : c.body(content, 200, headers)
}

/** By the path of its address. Empty where nothing was built. */
function readPage(folder: string): ReadonlyMap<string, PageFile> {
  if (!existsSync(join(folder, 'index.html'))) return new Map()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    entries.map(entry => {
      const file = join(entry.parentPath, entry.name)
      const path = `/${file.slice(folder.length).split(sep).filter(Boolean).join('/')}`
      return [path, pageFile(path, new Uint8Array(readFileSync(file)))]
    }),
  )
}

function pageFile(path: string, content: Uint8Array<ArrayBuffer>): PageFile {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  const headers = {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'cache-control': HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    etag: `"${hash}"`,
  }
  return { content, headers }
}
