/** Calls that take long, to the official client: they tell how far they are, and end when they are cancelled. */
import type { Client, Progress } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { openCodeFolder } from '../support/code-folder.ts'
import { type Connect, connected, onConnection, overHttp } from './mcp-in-process.ts'

const FILES = 200
/** Each defines a function that the next one calls. */
const code = Object.fromEntries(
  Array.from({ length: FILES }, (_, at) => [
    `src/part${at}.ts`,
    `import { part${at + 1} } from './part${at + 1}.ts'\nexport function part${at}(): number {\n  return part${at + 1}()\n}\n`,
  ]),
)

/** What reading the code of the folder gave: its counts. */
async function index(client: Client, options: Parameters<Client['callTool']>[1] = {}): Promise<Record<string, number>> {
  const { structuredContent } = await client.callTool({ name: 'context_index', arguments: {} }, options)
  const { status, result } = structuredContent as { status: string; result: Record<string, number> }
  expect(status).toBe('success')
  return result
}

describe.each<[string, Connect, '2026-07-28' | '2025-11-25']>([
  ['on a connection', onConnection, '2026-07-28'],
  ['on a connection of 2025-11-25', onConnection, '2025-11-25'],
  ['over HTTP', overHttp, '2026-07-28'],
])('reading the code of a folder %s', (_name, connect, revision) => {
  it('tells how far it is, and never less than before', async () => {
    await using folder = await openCodeFolder(code)
    const client = await connected(folder.engine, connect, revision, { viewer: 'owner', lens: 'context' })
    const reported: Progress[] = []
    const counts = await index(client, { onprogress: progress => void reported.push(progress) })
    await client.close()
    expect(counts).toMatchObject({ indexed: FILES })
    expect(reported.length).toBeGreaterThan(3)
    for (const [at, { progress, total }] of reported.entries()) {
      expect(progress).toBeGreaterThan(reported[at - 1]?.progress ?? -1)
      if (total !== undefined) expect(progress).toBeLessThanOrEqual(total)
    }
  })

  it.each(['read', 'write'])(
    'ends when it is cancelled as it begins to %s, with a store that is whole',
    async phase => {
      await using folder = await openCodeFolder(code)
      const client = await connected(folder.engine, connect, revision, { viewer: 'owner', lens: 'context' })
      const enough = new AbortController()
      const onprogress = ({ message }: Progress) => {
        if (message?.startsWith(phase)) enough.abort()
      }
      await expect(index(client, { signal: enough.signal, onprogress })).rejects.toThrow()
      // Runs come one after the other: this one begins when the cancelled one has ended, and does what that left undone.
      const { indexed = 0, skipped = 0 } = await index(client)
      expect(indexed).toBeGreaterThan(0)
      expect(indexed + skipped).toBe(FILES)
      await client.close()
      expect(await folder.engine.doctor()).toMatchObject({ ok: true })
      expect(folder.concepts().filter(concept => concept.startsWith('Function part'))).toHaveLength(FILES)
    },
  )
})
