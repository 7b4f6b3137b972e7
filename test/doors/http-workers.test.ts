/** `querent serve --workers`: real processes on one port and one store. */
import type { ChildProcess } from 'node:child_process'
import { request } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { tempFolder } from '../../src/testing/temp-folder.ts'
import { ended, querent, start } from '../support/command.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function serve(workers: number): Promise<{ url: string; child: ChildProcess; said: () => string }> {
  const home = tempFolder()
  const args = ['serve', '--port', '0', '--home', `${home.path}/store`, '--workers', String(workers), '--log', 'json']
  const child = start(args, { cwd: home.path })
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
function send(url: string, method: 'GET' | 'POST', body = ''): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false }, response => {
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

async function workerOf(url: string): Promise<{ worker: string; pid: number }> {
  const { text } = await send(`${url}/metrics`, 'GET')
  const [, pid, worker = ''] = /querent_process_info\{pid="(\d+)"(?:,worker="(\d+)")?\}/.exec(text) ?? []
  return { worker, pid: Number(pid) }
}

it('what one worker acknowledged is found through every other, also when it is killed', {
  timeout: 90_000,
}, async () => {
  const { url, child, said } = await serve(3)
  const pids = new Map<string, number>()
  await until(async () => {
    const { worker, pid } = await workerOf(url)
    pids.set(worker, pid)
    return pids.size === 3
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
  const [killed = 0] = pids.values()
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
  const later = new Set<number>()
  await until(async () => {
    later.add((await workerOf(url)).pid)
    return [...later].filter(pid => pid !== killed).length >= 3
  })
  const over = ended(child)
  child.kill('SIGTERM')
  expect(await over).toBe(0)
})

it('a number of workers below one is refused; with one there is no other process', { timeout: 60_000 }, async () => {
  using folder = tempFolder()
  for (const workers of ['0', '-1', '1.5', '1000']) {
    const { status, stderr } = await querent(['serve', '--workers', workers], { cwd: folder.path })
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('--workers: expected a whole') })
  }
  const { url, child } = await serve(1)
  expect((await workerOf(url)).pid).toBe(child.pid)
})

it('what is wrong with the command line is said once, and all end', { timeout: 60_000 }, async () => {
  using folder = tempFolder()
  const args = ['serve', '--workers', '2', '--port', '70000', '--home', `${folder.path}/store`]
  const { status, stderr } = await querent(args, { cwd: folder.path })
  expect(status).toBe(2)
  expect(stderr.match(/--port/g)).toHaveLength(1)
})
