/** Who may reach `querent serve`, as its options say: a socket of this user, and files of tokens that nobody else can read. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { servingOf } from '../support/serving.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'
import { bearer, tokenOf, tokensOf } from '../support/tokens.ts'

let folder: TempFolder
let socket: string
beforeEach(async () => {
  folder = tempFolder()
  socket = folder.file('q.sock')
  expect(await querentHere(['init'], { cwd: folder.path })).toMatchObject({ status: 0 })
})
afterEach(() => folder[Symbol.dispose]())

const serve = (...args: readonly string[]) => servingOf(start(['serve', ...args], { cwd: folder.path }))

function statusOf(headers: Readonly<Record<string, string>> = {}, path = '/v1/status'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, path, headers }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.once('error', reject)
    sent.end()
  })
}

describe('serve --socket', () => {
  it('makes a socket that this user alone can open, answers the owner there, and takes it away at the end', async () => {
    const server = await serve('--socket', 'q.sock')
    expect(server.url).toBe(`unix:${socket}`)
    expect(lstatSync(socket).mode & 0o777).toBe(0o600)
    expect(await statusOf()).toBe(200)
    expect(await statusOf({}, '/metrics')).toBe(200)
    expect(await statusOf({ 'x-forwarded-for': '203.0.113.7' })).toBe(401)
    expect(await statusOf({ origin: 'http://localhost:7999' })).toBe(403)
    expect(await server.end()).toBe(0)
    expect(existsSync(socket)).toBe(false)
  })

  it('asks for a token there too, where there are tokens', async () => {
    writeFileSync(folder.file('tokens.json'), JSON.stringify(tokensOf('ana')), { mode: 0o600 })
    const server = await serve('--socket', socket, '--tokens', 'tokens.json')
    expect(await statusOf()).toBe(401)
    expect(await statusOf({ ...bearer('ana') })).toBe(200)
    expect(await statusOf({ ...bearer('owner') }, '/metrics')).toBe(200)
    expect(await server.end()).toBe(0)
  })

  it('replaces a socket that a killed server has left', async () => {
    const killed = await serve('--socket', socket)
    await killed.end('SIGKILL')
    expect(existsSync(socket)).toBe(true)
    const server = await serve('--socket', socket)
    expect(await statusOf()).toBe(200)
    expect(await server.end()).toBe(0)
  })

  it('leaves alone what is no socket, and a socket that somebody listens on', async () => {
    const refused = async (path: string) => {
      const { status, stderr } = await querentHere(['serve', '--socket', path], { cwd: folder.path })
      expect(stderr).toMatch(/^querent: --socket: expected a /)
      expect(status).toBe(2)
    }
    writeFileSync(socket, 'mine')
    await refused(socket)
    expect(readFileSync(socket, 'utf8')).toBe('mine')
    mkdirSync(folder.file('folder'))
    await refused(folder.file('folder'))
    const taken = folder.file('taken.sock')
    const other = createServer()
    await new Promise<void>(resolve => other.listen(taken, resolve))
    await refused(taken)
    expect(lstatSync(taken).isSocket()).toBe(true)
    await new Promise(resolve => other.close(resolve))
    const { status, stderr } = await querentHere(['serve', '--socket', folder.file('x'.repeat(120))], {
      cwd: folder.path,
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining('an absolute path of at most')])
  })

  it.each([['--port', '0'], ['--host', '127.0.0.1'], ['--open'], ['--workers', '2']])(
    'refuses %s beside it',
    async (...more) => {
      const { status, stderr } = await querentHere(['serve', '--socket', socket, ...more], { cwd: folder.path })
      expect([status, stderr]).toEqual([2, expect.stringContaining('cannot be used with option')])
    },
  )
})

describe('serve --tokens', () => {
  const refusal = async (text: string, mode = 0o600) => {
    writeFileSync(folder.file('tokens.json'), text)
    chmodSync(folder.file('tokens.json'), mode)
    const { status, stderr } = await querentHere(['serve', '--port', '0', '--tokens', 'tokens.json'], {
      cwd: folder.path,
    })
    expect(status).toBe(2)
    return stderr.split('\n')[0]
  }
  const good = JSON.stringify(tokensOf('ana'))

  it.skipIf(process.platform === 'win32').each([0o666, 0o644, 0o602, 0o620, 0o604])(
    'refuses a file with mode %o',
    async mode => {
      expect(await refusal(good, mode)).toBe(
        `querent: --tokens tokens.json: others may read or write it (mode 0${mode.toString(8)}): run \`chmod 600\` on it`,
      )
    },
  )

  it('refuses a token of fewer than 16 characters, and shows none', async () => {
    expect(await refusal('{"a-secret": "ana"}')).toBe(
      'querent: --tokens: token 1 has 8 characters, and at least 16 are needed: make it of random letters and digits',
    )
  })

  it('refuses a token that is there twice, for one viewer or for two', async () => {
    const token = tokenOf('ana')
    const escaped = token.replace('t', '\\u0074')
    for (const [first, second] of [
      [token, token],
      [token, escaped],
    ]) {
      const said = await refusal(`{"${first}": "ana", "${tokenOf('cy')}": "cy", "${second}": "ben"}`)
      expect(said).toBe('querent: --tokens tokens.json: token 3 is the same as token 1: name each once')
    }
  })

  it('takes two tokens of one viewer', async () => {
    const tokens = { [tokenOf('ana')]: 'ana', [tokenOf('ana-2')]: 'ana' }
    writeFileSync(folder.file('tokens.json'), JSON.stringify(tokens), { mode: 0o600 })
    const server = await serve('--port', '0', '--tokens', 'tokens.json')
    const status = async (headers = {}) => (await fetch(`${server.url}/v1/status`, { headers })).status
    expect([await status(bearer('ana')), await status(bearer('ana-2')), await status()]).toEqual([200, 200, 401])
    expect(await server.end()).toBe(0)
    expect(statSync(folder.file('tokens.json')).mode & 0o777).toBe(0o600)
  })
})

it('serve --require-token answers nobody as the owner, also without tokens (QE-017)', async () => {
  const server = await serve('--port', '0', '--require-token')
  const status = async (path: string) => (await fetch(`${server.url}${path}`)).status
  expect([await status('/v1/status'), await status('/metrics'), await status('/healthz')]).toEqual([401, 401, 200])
  expect(await server.end()).toBe(0)
})
