import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { openRequests } from '../../../src/interfaces/mcp/stdio.ts'

const call = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'query' } })
const cancel = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

describe('openRequests', () => {
  it('does not wait for a request that the client has cancelled', async () => {
    const { client, answered } = await connect()
    await client.send(call(1))
    await client.send(cancel(1))
    await answered(never)
  })

  it('waits for the other requests of a client that has cancelled one', async () => {
    const { client, server, answered } = await connect()
    await client.send(call(1))
    await client.send(call(2))
    await client.send(cancel(1))
    let isOver = false
    const over = answered(never).then(() => {
      isOver = true
    })
    await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
    expect(isOver).toBe(false)
    await server.send({ jsonrpc: '2.0', id: 2, result: {} })
    await over
  })

  it('does not wait for a request that is cancelled while it waits', async () => {
    const { client, answered } = await connect()
    await client.send(call(1))
    const over = answered(never)
    await client.send(cancel(1))
    await over
  })
})

const never = new AbortController().signal

async function connect() {
  const [client, server] = InMemoryTransport.createLinkedPair()
  server.onmessage = () => {}
  const answered = openRequests(server)
  await client.start()
  await server.start()
  return { client, server, answered }
}
