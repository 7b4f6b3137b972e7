/** Live answers as resources, to the official client: on a connection that lasts, and over HTTP, in both revisions. */
import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { mcpOverHttp } from '../../src/interfaces/mcp/http.ts'
import { makeCatalog } from '../../src/ops/catalog.ts'
import { openTestEngine } from '../support/engines.ts'
import { type Connect, connected, onConnection, overHttp } from './mcp-in-process.ts'

const HONEY = 'querent://live/honey'
/** A live query gathers changes for a second before it tells them. */
const PATIENT = { timeout: 300_000, interval: 20 }

let engine: Engine
let clients: Client[] = []
beforeEach(async () => {
  engine = await openTestEngine({ clock: systemClock, live: { pollMs: 5 } })
  await put('first', 'Honey keeps for centuries.')
})
afterEach(async () => {
  for (const client of clients) await client.close()
  clients = []
  await engine.close()
})

async function put(id: string, content: string, visibility: 'public' | 'private' = 'public'): Promise<void> {
  await engine.put({ entries: [{ id, content, visibility }] })
}

interface Listening {
  readonly client: Client
  /** Resources reported as changed, in order. */
  readonly changed: readonly string[]
  /** Until what it gives is called. */
  listen(...uris: readonly string[]): Promise<() => Promise<unknown>>
}

type Way = (viewer: string) => Promise<Listening>

/** By `subscriptions/listen`. */
const modern =
  (connect: Connect): Way =>
  async viewer => {
    const client = await connected(engine, connect, '2026-07-28', { viewer })
    clients.push(client)
    return {
      client,
      changed: answersFor(client),
      listen: async (...uris) => {
        const subscription = await client.listen({ resourceSubscriptions: [...uris] })
        return () => subscription.close()
      },
    }
  }

/** By `resources/subscribe`. */
const older: Way = async viewer => {
  const client = await connected(engine, onConnection, '2025-11-25', { viewer })
  clients.push(client)
  return {
    client,
    changed: answersFor(client),
    listen: async (...uris) => {
      for (const uri of uris) await client.subscribeResource({ uri })
      return () => Promise.all(uris.map(uri => client.unsubscribeResource({ uri })))
    },
  }
}

function answersFor(client: Client): readonly string[] {
  const reported: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void reported.push(params.uri))
  return reported
}

async function read(client: Client, uri = HONEY): Promise<{ readonly text: string; readonly meta: unknown }> {
  const { contents } = await client.readResource({ uri })
  const [content] = contents
  expect(contents).toHaveLength(1)
  return { text: content !== undefined && 'text' in content ? content.text : '', meta: content?._meta }
}

describe.each<[string, Way]>([
  ['on a connection', modern(onConnection)],
  ['over HTTP', modern(overHttp)],
  ['on a connection of 2025-11-25', older],
])('a listener %s', (_name, way) => {
  it('is notified when the answer changes, and reads the changed answer', async () => {
    const { client, changed, listen } = await way('owner')
    await listen(HONEY)
    expect((await read(client)).text).not.toContain('second')
    await put('second', 'Honey is sweet.')
    await expect.poll(() => changed, PATIENT).toEqual([HONEY])
    expect((await read(client)).text).toContain('second')
  })

  it('is not notified of what its viewer may not see', async () => {
    const ana = await way('ana')
    const owner = await way('owner')
    await ana.listen(HONEY)
    await owner.listen(HONEY)
    await put('hidden', 'Honey stands behind the clock.', 'private')
    await expect.poll(() => owner.changed, PATIENT).toHaveLength(1)
    expect(ana.changed).toEqual([])
    await put('shown', 'Honey is sweet.')
    await expect.poll(() => owner.changed, PATIENT).toHaveLength(2)
    await expect.poll(() => ana.changed, PATIENT).toHaveLength(1)
    const { text } = await read(ana.client)
    expect(text).toContain('shown')
    expect(text).not.toContain('hidden')
  })

  it('leaves nothing behind when it stops listening', async () => {
    const { listen } = await way('owner')
    const stop = await listen(HONEY, 'querent://live/bees?lens=default')
    expect(engine.live.count({ id: 'owner' })).toBe(2)
    await stop()
    await expect.poll(() => engine.live.count(), PATIENT).toBe(0)
  })

  it('leaves nothing behind when it goes', async () => {
    const { client, listen } = await way('ana')
    await listen(HONEY)
    expect(engine.live.count({ id: 'ana' })).toBe(1)
    await client.close()
    await expect.poll(() => engine.live.count(), PATIENT).toBe(0)
  })

  it.each([
    ['querent://entry/first', 'invalid_argument'],
    ['querent://live/%20', 'invalid_argument'],
    ['querent://live/honey?lens=no-lens', 'unknown_lens'],
  ])('is refused %s with %s, and then listens to nothing', async (uri, code) => {
    const { listen } = await way('owner')
    await expect(listen(HONEY, uri)).rejects.toMatchObject({ code: -32602, data: { code } })
    if (way !== older) expect(engine.live.count()).toBe(0)
  })
})

it.each<[string, Connect]>([
  ['on a connection', onConnection],
  ['over HTTP', overHttp],
])(
  'a listener %s whose viewer has lost access is notified of the end, and can go on asking',
  async (_name, connect) => {
    const client = await connected(engine, connect, '2026-07-28', { viewer: 'ana' })
    clients.push(client)
    const subscription = await client.listen({ resourceSubscriptions: [HONEY, 'querent://live/bees'] })
    engine.live.endAll({ id: 'ana' })
    expect(await subscription.closed).toBe('graceful')
    expect(engine.live.count()).toBe(0)
    expect((await read(client)).text).toContain('first')
  },
)

it('asks for no more than a viewer may have, and takes none of them where one is too many', async () => {
  const { listen } = await modern(overHttp)('ana')
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => `querent://live/question%20${from + at}`)
  await expect(listen(...some(0, 21))).rejects.toMatchObject({ data: { code: 'invalid_argument' } })
  await listen(...some(0, 20))
  await listen(...some(20, 20))
  await expect(listen(...some(40, 20))).rejects.toMatchObject({ data: { code: 'rate_limited' } })
  await expect.poll(() => engine.live.count(), PATIENT).toBe(40)
})

it('listens to nothing where the request itself is refused', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' }
  const params = { notifications: { resourceSubscriptions: [HONEY] } }
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ ...message, params }),
  })
  const response = await mcpOverHttp(engine, makeCatalog(engine))(request, { id: 'ana' }, false)
  expect(await response.text()).toContain('"error"')
  expect(engine.live.count()).toBe(0)
})

it('is not offered where no client can be notified: over HTTP in 2025-11-25', async () => {
  const client = await connected(engine, overHttp, '2025-11-25', { viewer: 'ana' })
  clients.push(client)
  expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true })
  expect((await read(client)).text).toContain('first')
})

describe('a live answer', () => {
  it('is data, and as long as an agent may want to read again and again', async () => {
    for (let at = 0; at < 30; at++) await put(`long${at}`, `Honey ${at}. ${'The bees know why it keeps. '.repeat(60)}`)
    const { client } = await modern(onConnection)('ana')
    const { text, meta } = await read(client)
    expect(meta).toEqual({ 'querent/content': 'data' })
    expect(Buffer.byteLength(text) / 4).toBeLessThanOrEqual(2000)
    expect(JSON.parse(text).items.length).toBeGreaterThan(3)
  })

  it('stays what it is when it is read', async () => {
    const { client } = await modern(onConnection)('owner')
    const [before, after] = [await read(client), await read(client)]
    const itemsOf = (text: string) => JSON.parse(text).items.map(({ id }: { id: string }) => id)
    expect(itemsOf(after.text)).toEqual(itemsOf(before.text))
    expect(await engine.get({ id: 'first', touch: false })).toMatchObject({ access: null })
  })

  it('of no question, or one that cannot be asked, is an error that says why', async () => {
    const { client } = await modern(onConnection)('owner')
    await expect(client.readResource({ uri: 'querent://live/%20' })).rejects.toMatchObject({
      data: { code: 'invalid_argument' },
    })
    await expect(client.readResource({ uri: 'querent://live/%zz' })).rejects.toThrow()
  })

  it('is offered as templates', async () => {
    const { client } = await modern(onConnection)('ana')
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'querent://entry/{id}',
      'querent://live/{question}',
      'querent://live/{question}{?lens}',
    ])
    expect(client.getServerCapabilities()?.resources?.subscribe).toBe(true)
  })
})
