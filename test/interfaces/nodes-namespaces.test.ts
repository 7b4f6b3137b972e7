/**
 * Nine nodes as processes, each at a host of its own: namespaces joined by a bridge. Some are behind relays that are late, lose
 * and break; links are taken down and up while questions are under way.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../support/beliefs-engine.ts'
import { start } from '../support/command.ts'
import type { Relay } from '../support/faulty-relay-child.ts'
import { type Network, openNetwork, whyNoNetwork } from '../support/network.ts'
import {
  FEDERATED,
  idsOf,
  idsWithout,
  NODES,
  type NodesAnswer,
  newQuestion,
  prepareStores,
} from '../support/node-stores.ts'
import { type Serving, servingOf } from '../support/serving.ts'
import { repeatUntil } from '../support/until-met.ts'

const SKIPPED = whyNoNetwork()

const PORT = 7411
const RELAY_PORT = 7412
/** What the way to a node is like, where it is not perfect. */
const WAYS: Readonly<Record<string, Pick<Relay, 'delayMs' | 'loss' | 'breaks'>>> = {
  n2: { delayMs: 15, loss: 0.2, breaks: 0 },
  n3: { delayMs: 60, loss: 0, breaks: 0 },
  n6: { delayMs: 30, loss: 0.1, breaks: 0 },
  n8: { delayMs: 5, loss: 0, breaks: 0.15 },
}
/** The way to it breaks now and then. */
const UNRELIABLE = 'n8'

let root = ''
let network: Network
const servers = new Map<string, Serving>()
const relays: ChildProcess[] = []

const homeOf = (name: string) => join(root, name, '.querent')
const socket = () => join(root, 'home.sock')

if (SKIPPED === null) {
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'querent-hosts-'))
    network = openNetwork(['home', ...NODES])
    const keys = await prepareStores(homeOf)
    for (const name of ['home', ...NODES]) await startNode(name)
    for (const [seed, [name, way]] of Object.entries(WAYS).entries()) {
      const host = network.addressOf(name)
      await startRelay(name, { ...way, seed, listen: { host, port: RELAY_PORT }, to: { host, port: PORT } })
    }
    const way = { delayMs: 0, loss: 0, breaks: 0, seed: 0 }
    await startRelay('home', { ...way, listen: { path: socket() }, to: { host: '127.0.0.1', port: PORT } })
    for (const name of NODES) {
      const address = `http://${network.addressOf(name)}:${name in WAYS ? RELAY_PORT : PORT}`
      const federations = FEDERATED.includes(name) ? { federations: ['birds'] } : {}
      await call('peers.add', { id: name, address, did: keys.get(name), ...federations })
    }
  }, 120_000)
  afterEach(() => {
    for (const name of NODES) network.mend(name)
  })
  afterAll(async () => {
    for (const { child } of servers.values()) child.kill('SIGCONT')
    await Promise.all([...servers.values()].map(server => server.end('SIGKILL')))
    for (const relay of relays) relay.kill()
    network?.[Symbol.dispose]()
    rmSync(root, { recursive: true, force: true })
  })
}

async function startNode(name: string): Promise<void> {
  const tokens = join(root, 'tokens.json')
  writeFileSync(tokens, '{"none-asks-with-it":"ana"}', { mode: 0o600 })
  // Home is asked at its own host alone, where no token is needed.
  const place = name === 'home' ? [] : ['--host', network.addressOf(name), '--tokens', tokens]
  const args = ['serve', '--home', homeOf(name), '--log', 'off', '--port', String(PORT), ...place]
  servers.set(name, await servingOf(start(args, { cwd: root, through: network.at(name) })))
}

async function startRelay(name: string, relay: Relay): Promise<void> {
  const program = fileURLToPath(new URL('../support/faulty-relay-child.ts', import.meta.url))
  const [command = '', ...args] = [...network.at(name), process.execPath, program, JSON.stringify(relay)]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  relays.push(child)
  await once(child.stdout, 'data')
}

/** What rests after failures is asked again at once. */
async function meetAgain(): Promise<void> {
  const { peers } = (await call('peers.list', {})) as unknown as { peers: { id: string; address: string }[] }
  await Promise.all(peers.map(({ id, address }) => call('peers.add', { id, address })))
}

/** Over a socket in the file system, which is in no network. */
async function call(operation: string, input: unknown, viewer?: string): Promise<Json> {
  const headers = viewer === undefined ? {} : { 'querent-viewer': viewer }
  const asked = request({ socketPath: socket(), path: `/v1/ops/${operation}`, method: 'POST', headers })
  asked.end(JSON.stringify(input))
  const [response] = await once(asked, 'response')
  return JSON.parse(await text(response)) as Json
}

async function ask(options: Json = {}): Promise<NodesAnswer> {
  return (await call('beliefs.query', newQuestion(options), 'ana')) as unknown as NodesAnswer
}

const failedIn = ({ errors }: NodesAnswer) => errors.map(({ node }) => node)

/** Complete but for those who failed, and that they did is told everywhere alike. */
function expectExact(answer: NodesAnswer): void {
  const failed = failedIn(answer)
  expect(idsOf(answer)).toEqual(idsWithout(...failed))
  expect(answer.partial).toBe(failed.length > 0)
  expect(answer.coverage.nodes.map(({ node, responded }) => [node, responded])).toEqual(
    NODES.map(node => [node, !failed.includes(node)]),
  )
  const federations = FEDERATED.every(node => failed.includes(node)) ? [] : ['birds']
  expect(answer.coverage).toMatchObject({ federations_responded: federations, network_responded: true })
}

describe.skipIf(SKIPPED !== null)(
  `nodes at hosts of their own${SKIPPED === null ? '' : ` (${SKIPPED})`}`,
  { timeout: 90_000 },
  () => {
    it('BQ-117, BQ-134: answer over ways that are late, lose pieces and break; only those that break cost something', async () => {
      const seen = new Set<string>()
      const askOnce = async () => {
        const answer = await ask({ timeout_ms: 20_000 })
        expectExact(answer)
        expect(failedIn(answer).filter(node => node !== UNRELIABLE)).toEqual([])
        seen.add(String(failedIn(answer)))
      }
      await repeatUntil(200, askOnce, () => expect([...seen].toSorted()).toEqual(['', UNRELIABLE]))
    })

    it('BQ-132, BQ-133: a partition costs what is behind it, told as late; the rest answers within the time', async () => {
      const away = ['n1', 'n3', 'n5', 'n6']
      for (const name of away) network.cut(name)
      const answer = await ask({ timeout_ms: 2_000 })
      expectExact(answer)
      const errors = answer.errors.filter(({ node }) => node !== UNRELIABLE)
      expect(errors.map(({ node, code }) => [node, code])).toEqual(away.map(node => [node, 'TIMEOUT']))
    })

    it('BQ-134: a whole federation that is cut off has not answered, and is back with its link', async () => {
      for (const name of FEDERATED) network.cut(name)
      const cut = await ask({ timeout_ms: 2_000 })
      expectExact(cut)
      expect(failedIn(cut)).toEqual(expect.arrayContaining([...FEDERATED]))
      for (const name of FEDERATED) network.mend(name)
      await meetAgain()
      const whole = await ask({ timeout_ms: 20_000 })
      expectExact(whole)
      expect(failedIn(whole).filter(node => node !== UNRELIABLE)).toEqual([])
    })

    it('loses nothing where the link is back before the question ends, and one node where it is not', async () => {
      const n7 = servers.get('n7')
      for (const isBack of [true, false]) {
        // It has the question, or gets it, and can only answer once the link is down.
        n7?.child.kill('SIGSTOP')
        const asking = ask({ timeout_ms: isBack ? 20_000 : 3_000 })
        await pause(300)
        network.cut('n7')
        n7?.child.kill('SIGCONT')
        await pause(300)
        if (isBack) network.mend('n7')
        const answer = await asking
        expectExact(answer)
        expect(answer.errors.filter(({ node }) => node === 'n7').map(({ code }) => code)).toEqual(
          isBack ? [] : ['TIMEOUT'],
        )
      }
    })

    it('BQ-132, BQ-134: links that go down and up while it is asked: every answer is right as far as it goes', async () => {
      let isOver = false
      const asking = (async () => {
        const answers: NodesAnswer[] = []
        while (!isOver) answers.push(await ask({ timeout_ms: 1_500 }))
        return answers
      })()
      const moving = ['n1', 'n4', 'n5']
      for (let round = 0; round < 4; round++) {
        for (const name of moving) network.cut(name)
        await pause(900)
        for (const name of moving) network.mend(name)
        await pause(900)
      }
      isOver = true
      const answers = await asking
      for (const answer of answers) {
        expectExact(answer)
        expect(failedIn(answer).every(node => [...moving, UNRELIABLE].includes(node))).toBe(true)
      }
      expect(answers.some(answer => failedIn(answer).some(node => moving.includes(node)))).toBe(true)
      await meetAgain()
      expect(failedIn(await ask({ timeout_ms: 20_000 })).filter(node => node !== UNRELIABLE)).toEqual([])
    })
  },
)

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
