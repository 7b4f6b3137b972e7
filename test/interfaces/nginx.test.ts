/** QE-017: nginx in front of a server on loopback, as people write it: whoever comes through it is not the owner. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { oneAtATime } from '../support/build-once.ts'
import { ended } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { type Serving, startServer } from '../support/serving.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { bearer, tokensOf } from '../support/tokens.ts'
import { until } from './raw-http.ts'

/** Null: there is none, and nobody may install one here. */
const nginx = findNginx()

/** Installs one only where that is nobody's own machine: as root of a container. */
function findNginx(): string | null {
  const script = fileURLToPath(new URL('../../scripts/install-nginx.sh', import.meta.url))
  const more = process.getuid?.() === 0 ? [] : ['--only-find']
  return oneAtATime(() => {
    const { status, stdout } = spawnSync('sh', [script, ...more], { encoding: 'utf8' })
    return status === 0 ? stdout.trim() : null
  })
}

describe.skipIf(nginx === null)('behind nginx with a plain proxy_pass (where nginx is)', { timeout: 120_000 }, () => {
  let folder: TempFolder
  let proxy: ChildProcess
  let open: Serving
  let closed: Serving
  let ports: readonly number[]

  beforeAll(async () => {
    folder = tempFolder()
    expect(await querentHere(['init'], { cwd: folder.path })).toMatchObject({ status: 0 })
    expect(await querentHere(['remember', 'The honey is behind the clock.'], { cwd: folder.path })).toMatchObject({
      status: 0,
    })
    writeFileSync(folder.file('tokens.json'), JSON.stringify(tokensOf('ana')), { mode: 0o600 })
    open = await startServer(['serve'], folder.path)
    closed = await startServer(['serve', '--tokens', 'tokens.json'], folder.path)
    ports = [await freePort(), await freePort(), await freePort()]
    const [plain = 0, named = 0, tokens = 0] = ports
    const places = [
      [plain, `proxy_pass ${open.url};`],
      [named, `proxy_pass ${open.url}; proxy_http_version 1.1; proxy_set_header X-Real-IP $remote_addr;`],
      [tokens, `proxy_pass ${closed.url}; proxy_http_version 1.1;`],
    ] as const
    writeFileSync(
      folder.file('nginx.conf'),
      `daemon off; pid ${folder.file('pid')}; error_log ${folder.file('errors')};
${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${folder.file(name)};`).join(' ')}
  ${places.map(([port, what]) => `server { listen 127.0.0.1:${port}; location / { ${what} } }`).join('\n  ')}
}
`,
    )
    proxy = spawn(nginx ?? '', ['-c', folder.file('nginx.conf'), '-e', folder.file('errors')], { stdio: 'inherit' })
    for (const port of ports) await until(async () => (await statusOf(port, '/healthz')) === 200)
  }, 120_000)
  afterAll(async () => {
    const over = ended(proxy)
    proxy?.kill('SIGTERM')
    await over
    await Promise.all([open, closed].map(server => server.end()))
    folder[Symbol.dispose]()
  })

  async function statusOf(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      await response.text()
      return response.status
    } catch {
      return 0
    }
  }

  it('nobody is the owner without tokens, though nginx adds no header and names this machine', async () => {
    expect((await fetch(`${open.url}/v1/status`)).status).toBe(200)
    const [plain = 0, named = 0] = ports
    for (const port of [plain, named]) {
      for (const path of ['/v1/status', '/v1/ops', '/v1/entries', '/metrics', '/mcp']) {
        expect(await statusOf(port, path), path).toBe(401)
      }
      for (const path of ['query', 'put', 'backup']) {
        const init = { method: 'POST', body: '{"text":"honey"}' }
        const response = await fetch(`http://127.0.0.1:${port}/v1/ops/${path}`, init)
        expect(response.status).toBe(401)
        expect(await response.text()).not.toContain('clock')
      }
      expect(await statusOf(port, '/v1/status', { 'querent-viewer': 'owner' })).toBe(401)
    }
  })

  it('with tokens a viewer is who its token says, and nobody is the owner without one, though nothing gives the proxy away', async () => {
    const [, , tokens = 0] = ports
    expect(await statusOf(tokens, '/v1/status')).toBe(401)
    expect(await statusOf(tokens, '/v1/status', bearer('ana'))).toBe(200)
    expect(await statusOf(tokens, '/metrics', bearer('ana'))).toBe(403)
  })
})

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
