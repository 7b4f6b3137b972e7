/** What the guide to other nodes shows is what happens, with two servers as it starts them. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isStatementOf } from '../../src/identity/messages.ts'
import { aboutStatement } from '../../src/lenses/beliefs/nodes/wire/protocol.ts'
import { blocks, guidePage, pattern, runSession, shellIn } from '../support/guide-page.ts'
import { querentHere, serveInProcess } from '../support/in-process.ts'
import type { Serving } from '../support/serving.ts'

const page = guidePage('nodes.md')
const [begin = '', members = '', ownMembers = ''] = blocks(page, 'sh')
const address = 'http://127.0.0.1:7412'

let root = ''
let here = ''
let there = ''
let own: Serving
let other: Serving
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'querent-guide-nodes-'))
  here = join(root, 'here')
  there = join(root, 'there')
  for (const folder of [here, there]) mkdirSync(folder)
  const [put = '', serve = ''] = begin.trim().split('\n')
  // Before the moment at which the page asks.
  await inShell(put, there, { QUERENT_NOW: '2026-02-01T12:00:00Z' })
  await inShell('querent agents create ann', here)
  const args = serve.split(' ').slice(1, 2)
  own = await serveInProcess(args, here)
  other = await serveInProcess(args, there)
})
afterAll(async () => {
  expect([await own.end(), await other.end()]).toEqual([0, 0])
  rmSync(root, { recursive: true, force: true })
})

/** What it prints; fails as the commands do. */
async function inShell(script: string, cwd: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { env, shell } = shellIn(cwd)
  return (await promisify(execFile)(shell, ['-ec', script], { cwd, env: { ...env, ...more } })).stdout
}

// biome-ignore lint/suspicious/noExplicitAny: documents of nodes, read in expectations only
async function read(url: string): Promise<any> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  return response.json()
}

describe('the guide to other nodes', () => {
  it('shows what its commands print', async () => {
    const padded = other.url.padEnd(address.length)
    const served = page
      .replaceAll(`${address}  yes`, `${padded}  yes`)
      .replaceAll(address, other.url)
      .replace('ADDRESS                PUBLIC', `${'ADDRESS'.padEnd(other.url.length)}  PUBLIC`)
    const steps = await runSession(served, here)
    for (const { command, shown, printed } of steps) expect(printed, `$ ${command}`).toMatch(pattern(shown))
    expect(steps).toHaveLength(5)
  })

  it('has nodes tell anybody who they are, without a token, signed', async () => {
    const about = await read(`${other.url}/.well-known/querent`)
    expect(isStatementOf(about.did, aboutStatement(about), about.signature)).toBe(true)
    expect(about.did).toBe((await read(`${other.url}/v1/node`)).did)
  })

  it('has a member of a federation find what is shared on another node', async () => {
    const agents = JSON.parse((await querentHere(['agents', 'list', '--json'], { cwd: here })).stdout).agents
    const { did: DID } = agents.find(({ id }: { id: string }) => id === 'ann')
    await inShell(members, there, { DID })
    await inShell(ownMembers.replace('https://reef.example:7411', other.url), here)
    const shared = ['--federation', 'lab']
    const put = await querentHere(['beliefs', 'put', 'Kelp grows fast in cold water.', ...shared], { cwd: there })
    expect(put.status).toBe(0)
    const asked = ['beliefs', 'query', 'kelp', '--federated', '--viewer', 'ann', '--json']
    const { beliefs, errors } = JSON.parse((await querentHere(asked, { cwd: here })).stdout)
    expect(errors).toEqual([])
    expect(beliefs).toMatchObject([{ belief: { content: 'Kelp grows fast in cold water.' }, federation_id: 'lab' }])
  })
})
