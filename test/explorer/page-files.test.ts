/** How the page is served: right types, a strict policy, caches that never lie, and nothing but its own files. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveExplorer } from '../../src/interfaces/http/files.ts'

let folder = ''
let server: Server
let port = 0
const app = new Hono()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'querent-page-'))
  mkdirSync(join(folder, 'page/assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'of nobody’s business')
  writeFileSync(join(folder, 'page/index.html'), '<!doctype html><title>Querent</title>')
  writeFileSync(join(folder, 'page/assets/index-Ab_1-xYz.js'), 'export {}')
  writeFileSync(join(folder, 'page/assets/plain.css'), 'body {}')
  serveExplorer(app, join(folder, 'page'))
  await new Promise<void>(resolve => {
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve()) as unknown as Server
  })
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

it('serves the page with its types and under a policy that lets it load nothing from elsewhere', async () => {
  const page = await app.request('/')
  expect(await page.text()).toContain('<title>Querent</title>')
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  )
  expect((await app.request('/assets/plain.css')).headers.get('content-type')).toBe('text/css; charset=utf-8')
})

it('lets browsers keep for ever what is named by its content, and ask again for the rest', async () => {
  const asset = await app.request('/assets/index-Ab_1-xYz.js')
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const page = await app.request('/')
  const etag = page.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await app.request('/', { headers: { 'if-none-match': tag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }
  expect((await app.request('/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  expect((await app.request('/', { method: 'HEAD' })).status).toBe(200)
})

it.each([
  '/../secret.txt',
  '/assets/../../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/assets/..%5c..%5csecret.txt',
  '//secret.txt',
  '/assets',
  '/assets/',
  '/index.html%00.js',
  '/./index.html/',
])('answers %s with nothing of the disk', async path => {
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`),
    )
    let said = ''
    socket.on('data', part => {
      said += part
    })
    socket.on('close', () => resolve(said))
    socket.on('error', reject)
  })
  expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /)
  expect(answer).not.toContain('business')
})

it('says what to do where it was not built, and serves it as soon as it is', async () => {
  const bare = new Hono()
  const place = join(folder, 'later')
  serveExplorer(bare, place)
  const missing = await bare.request('/')
  expect([missing.status, await missing.text()]).toEqual([503, 'The explorer is not built: npm run build\n'])
  expect((await bare.request('/assets/x.js')).status).toBe(404)
  mkdirSync(place)
  writeFileSync(join(place, 'index.html'), 'built')
  expect(await (await bare.request('/')).text()).toBe('built')
})
