/** `querent serve --workers`: real processes on one port and one store. */
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { keysOf } from '../../src/identity/keys.ts'
import { newNonce, signRequest } from '../../src/identity/messages.ts'
import { ended, querent, start } from '../support/command.ts'
import { querentHere } from '../support/in-process.ts'
import { seededUniform } from '../support/seeded.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { bearer, tokensOf } from '../support/tokens.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function serve(
  workers: number,
  more: readonly string[] = [],
  env = {},
): Promise<{ url: string; child: ChildProcess; said: () => string }> {
  const home = tempFolder()
  const args = ['serve', '--port', '0', '--home', `${home.path}/store`, '--workers', String(workers), '--log', 'json']
  const child = start([...args, ...more], { cwd: home.path, env })
  let said = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', part => {
    said += part
  })
  const over = ended(child)
  ends.push(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await over
    home[Symbol.dispose]()
  })
  await until(() => /http:\S+/.test(said))
  return { url: /http:\S+/.exec(said)?.[0] ?? '', child, said: () => said }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(resolve => setTimeout(resolve, 20))
}

/** On a connection of its own, so that any worker may get it: `fetch` keeps connections. */
function send(
  url: string,
  method: 'GET' | 'POST',
  body = '',
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', part => {
        text += part
      })
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

async function ask(url: string, operation: string, input: unknown): Promise<Record<string, unknown>> {
  const { status, text } = await send(`${url}/v1/ops/${operation}`, 'POST', JSON.stringify(input))
  expect(status).toBe(200)
  return JSON.parse(text)
}

/** Whichever worker is asked, it tells of all. */
async function pidsOf(url: string, headers = {}): Promise<readonly number[]> {
  const { text } = await send(`${url}/metrics`, 'GET', '', headers)
  return [...text.matchAll(/querent_process_info\{pid="(\d+)"/g)].map(([, pid]) => Number(pid))
}

/** The figure of `/metrics` without labels, or with just these. */
async function figure(url: string, name: string): Promise<number> {
  const { text } = await send(`${url}/metrics`, 'GET')
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

it('what one worker acknowledged is found through every other, also when it is killed', async () => {
  const { url, child, said } = await serve(3)
  let pids: readonly number[] = []
  await until(async () => {
    pids = await pidsOf(url)
    return new Set(pids).size === 3
  })
  const acknowledged: string[] = []
  const write = async (id: string) => {
    try {
      await ask(url, 'put', { entries: [{ id, content: `a heron, the one called ${id}` }] })
      acknowledged.push(id)
    } catch {
      // The worker it went to was killed: nothing was promised.
    }
  }
  for (let at = 0; at < 12; at++) await write(`before-${at}`)
  expect(acknowledged).toHaveLength(12)
  const [killed = 0] = pids
  const writing = Promise.all(Array.from({ length: 12 }, (_, at) => write(`meanwhile-${at}`)))
  process.kill(killed, 'SIGKILL')
  await writing
  await until(() => said().includes('another in 100 ms'))
  for (let round = 0; round < 6; round++) {
    const found = await ask(url, 'list', { limit: 100 })
    const ids = (found['items'] as { id: string }[]).map(({ id }) => id)
    expect(acknowledged.filter(id => !ids.includes(id))).toEqual([])
  }
  const page = await ask(url, 'query', { text: 'heron called before-3', limit: 5 })
  expect((page['items'] as { id: string }[])[0]?.id).toBe('before-3')
  // The one who died is replaced.
  await until(async () => (await pidsOf(url)).filter(pid => pid !== killed).length === 3)
  const over = ended(child)
  child.kill('SIGTERM')
  expect(await over).toBe(0)
})

it('a number of workers below one is refused; with one there is no other process', async () => {
  using folder = tempFolder()
  for (const workers of ['0', '-1', '1.5', '1000']) {
    const { status, stderr } = await querentHere(['serve', '--workers', workers], { cwd: folder.path })
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('--workers: expected a whole') })
  }
  const { url, child } = await serve(1)
  expect(await pidsOf(url)).toEqual([child.pid])
})

it('what is wrong with the command line is said once, and all end', async () => {
  using folder = tempFolder()
  const args = ['serve', '--workers', '2', '--port', '70000', '--home', `${folder.path}/store`]
  const { status, stderr } = await querent(args, { cwd: folder.path })
  expect(status).toBe(2)
  expect(stderr.match(/--port/g)).toHaveLength(1)
})

it('figures are those of all workers, whichever is asked', async () => {
  const { url } = await serve(2)
  await until(async () => (await pidsOf(url)).length === 2)
  const counted = 'querent_http_requests_total{operation="list",status="200"}'
  for (let at = 0; at < 40; at++) await ask(url, 'list', {})
  await ask(url, 'put', { entries: [{ id: 'heron', content: 'a heron' }] })
  await until(async () => (await figure(url, 'querent_entries')) === 1)
  for (let at = 0; at < 6; at++) expect(await figure(url, counted)).toBe(40)
  // What each of them sees of the one store is not added up.
  expect(await figure(url, 'querent_entries')).toBe(1)
})

it('limits hold for all workers together', async () => {
  using folder = tempFolder()
  const tokens = `${folder.path}/tokens.json`
  writeFileSync(tokens, JSON.stringify(tokensOf('ben')), { mode: 0o600 })
  // One unit in a minute comes back: in the time that this test takes none does.
  const limits = { QUERENT_LIMITS_BURST: '20', QUERENT_LIMITS_UNITS_PER_MINUTE: '2' }
  const { url } = await serve(2, ['--tokens', tokens], limits)
  await until(async () => (await pidsOf(url, bearer('owner'))).length === 2)
  const statuses = await Promise.all(
    Array.from({ length: 80 }, async () => {
      const { status } = await send(`${url}/v1/ops/list`, 'POST', '{}', bearer('ben'))
      return status
    }),
  )
  const answered = statuses.filter(status => status === 200).length
  expect(statuses.filter(status => status === 429)).toHaveLength(80 - answered)
  // A worker that took none of these connections keeps its half.
  expect(answered).toBeLessThanOrEqual(20)
  expect(answered).toBeGreaterThanOrEqual(10)
})

it('a signed request is taken once, by whichever worker it comes to first', async () => {
  const { url } = await serve(2)
  await until(async () => (await pidsOf(url)).length === 2)
  const { did } = JSON.parse((await send(`${url}/v1/node`, 'GET')).text) as { did: string }
  const uniform = seededUniform(11)
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(uniform() * 256))
  const keys = keysOf(random(32))
  const sign = (body: string) =>
    signRequest(
      keys,
      { method: 'POST', path: '/v1/ops/put', body },
      {
        ...{ audience: did, timestamp: Date.now(), nonce: newNonce(random) },
      },
    )
  for (let round = 0; round < 4; round++) {
    const body = JSON.stringify({ entries: [{ id: `signed-${round}`, content: 'a heron' }] })
    const headers = sign(body)
    const replays = Array.from({ length: 8 }, () => send(`${url}/v1/ops/put`, 'POST', body, headers))
    const statuses = (await Promise.all(replays)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 401)])
    expect((await send(`${url}/v1/ops/put`, 'POST', body, headers)).status).toBe(401)
  }
})

it('a second signal ends all at once', async () => {
  const { url, child } = await serve(2, ['--grace', '600'])
  await until(async () => (await pidsOf(url)).length === 2)
  const pids = await pidsOf(url)
  const { port } = new URL(url)
  const held = connect(Number(port), '127.0.0.1')
  held.on('error', () => {})
  held.write('POST /v1/ops/list HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{')
  await until(async () => (await figure(url, 'querent_http_requests_in_flight')) === 2)
  const over = ended(child)
  child.kill('SIGTERM')
  await until(() => isRefused(Number(port)))
  expect(child.exitCode).toBeNull()
  child.kill('SIGTERM')
  expect(await over).toBe(143)
  await until(() => pids.every(pid => !isAlive(pid)))
  held.destroy()
})

function isRefused(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
