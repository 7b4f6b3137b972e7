/** A provider of embeddings that takes connections and never answers. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const sockets = new Set<Socket>()
const server = createServer(socket => sockets.add(socket))
let baseUrl = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const entries = [{ id: 'fox', content: 'The quick fox.' }]
  for (const args of [['init'], ['call', 'put', JSON.stringify({ entries })]]) {
    await querentHere(args, { cwd: folder.path })
  }
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
  folder[Symbol.dispose]()
})

/** Much less than the thirty seconds that a provider has while an engine opens where no limit is given. */
const LIMIT_MS = 15_000

it.each([
  ['while the engine opens', {}],
  ['while the query is embedded', { dimensions: 384 }],
])('leaves a query to words within its --timeout, %s', { timeout: LIMIT_MS }, async (_, more) => {
  const embedder = { provider: 'ollama', model: 'm', baseUrl, ...more }
  writeFileSync(folder.file('.querent/config.json'), JSON.stringify({ embedder }))
  const env = { QUERENT_EMBEDDER: '' }
  const { status, stdout } = await querentHere(['query', 'fox', '--timeout', '0.5'], { cwd: folder.path, env })
  expect(status).toBe(0)
  expect(stdout).toContain('The quick fox.')
  expect(stdout).toMatch(
    /Words only: ollama at .*: no answer within 500 ms|not embedded in time: answered by words only/,
  )
})
