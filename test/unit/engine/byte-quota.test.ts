/** QE-019: what a viewer may keep by requests from outside, counted by the store. */
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { ByteQuota } from '../../../src/engine/byte-quota.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { CallContext } from '../../../src/model/operation.ts'
import { audience } from '../../../src/model/partition.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { openMemoryStore } from '../../../src/store/memory-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { heldBytes } from '../../../src/store/usage.ts'
import { draftOf, wholeChunk } from '../../../src/testing/entries.ts'
import { tempFolder } from '../../../src/testing/temp-folder.ts'
import { openTestEngine } from '../../support/engines.ts'

const QUOTA = 10_000
const limits = { bytesPerViewer: QUOTA, burst: 1_000 }
const of = (id: string, remote = true): CallContext => ({
  viewer: { id },
  signal: new AbortController().signal,
  ...(remote && { remote }),
})

async function open(more: Parameters<typeof openTestEngine>[0] = {}): Promise<Engine> {
  return openTestEngine({ embedder: 'none', limits, ...more })
}

const put = (engine: Engine, context: CallContext, id: string, length: number) =>
  callOperation(makeCatalog(engine), engine, 'put', { entries: [{ id, content: 'x'.repeat(length) }] }, context)

describe('a viewer from outside', () => {
  it('QE-019: keeps no more bytes than its quota; the error says how many there are, and nothing is written', async () => {
    const engine = await open()
    await put(engine, of('ben'), 'a', 6_000)
    const seq = engine.host('c64').store.lastSeq()
    await expect(put(engine, of('ben'), 'b', 6_000)).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringContaining('limits.bytes_per_viewer'),
      details: { quota: QUOTA, used: expect.any(Number), bytes: expect.any(Number) },
    })
    expect(engine.host('c64').store.lastSeq()).toBe(seq)
    // Others have room of their own; so has the owner, and whoever asks on this machine.
    await put(engine, of('ana'), 'b', 6_000)
    await put(engine, of('owner'), 'c', 60_000)
    await put(engine, of('ben', false), 'd', 60_000)
    await expect(put(engine, of('ben'), 'e', 1)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await engine.close()
  })

  it('QE-019: has room again for what it deletes, and for what it makes shorter', async () => {
    const engine = await open()
    await put(engine, of('ben'), 'a', 6_000)
    await put(engine, of('ben'), 'b', 3_000)
    await expect(put(engine, of('ben'), 'c', 3_000)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await callOperation(makeCatalog(engine), engine, 'delete', { ids: ['a'] }, of('ben'))
    await put(engine, of('ben'), 'c', 5_000)
    await put(engine, of('ben'), 'c', 10)
    await put(engine, of('ben'), 'd', 5_000)
    await engine.close()
  })

  it('QE-019: cannot pass it by writing at the same time, nor by opening the store again', async () => {
    using folder = tempFolder()
    const home = folder.file('home')
    {
      const engine = await open({ store: undefined, home })
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(id => put(engine, of('ben'), id, 4_000)))
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
      await engine.close()
    }
    const engine = await open({ store: undefined, home })
    await expect(put(engine, of('ben'), 'd', 4_000)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await engine.close()
  })

  it.each([
    ['beliefs.put', { content: 'x'.repeat(9_990), confidence: { method_quality: 0.5 } }],
    ['conversations.remember', { text: 'x'.repeat(9_999), id: 'note' }],
  ])('QE-019: is held to it by every operation that writes: %s', async (name, input) => {
    const engine = await open()
    await expect(callOperation(makeCatalog(engine), engine, name, input, of('ben'))).rejects.toMatchObject({
      code: expect.stringMatching(/^(quota_exceeded|RATE_LIMITED)$/),
      message: expect.stringContaining(`of ${QUOTA} bytes`),
    })
    await engine.close()
  })
})

describe.each([
  ['in memory', () => openMemoryStore()],
  ['on SQLite', () => openSqliteStore({ file: ':memory:' })],
] as const)('bytes %s', (_, openStore) => {
  it('of entries from before they were counted are counted, and no others; strangers with keys are one', async () => {
    const store = openStore()
    const write = (holder: string, id: string, length: number) =>
      store.write(1, writer => {
        const draft = draftOf({ id, content: 'x'.repeat(length), audience: audience('public', holder) })
        return writer.put(draft, wholeChunk(draft)).key
      })
    for (let at = 0; at < 1_200; at++) write(at % 2 === 0 ? 'ben' : 'ana', `e${at}`, 10)
    write('did:key:zA', 'a', 100)
    write('did:key:zB', 'b', 200)
    const quota = new ByteQuota(store, systemClock, 1e9)
    for (const viewer of ['ben', 'ana', 'did:key:zC']) (await quota.reserve(viewer, 1))()
    const [ben, ana, keys] = ['ben', 'ana', 'did:key:zB'].map(viewer => heldBytes(store, viewer) as number)
    expect(ben).toBeGreaterThan(6_000)
    expect(keys).toBeGreaterThanOrEqual(300)
    const key = write('ben', 'e0', 1_010)
    expect(heldBytes(store, 'ben')).toBe((ben as number) + 1_000)
    store.write(1, writer => writer.delete(key))
    expect(heldBytes(store, 'ben')).toBeLessThan(ben as number)
    expect(heldBytes(store, 'ana')).toBe(ana)
    expect(() =>
      store.write(1, writer => {
        writer.delete(
          writer.find(
            'e2',
            writer.partitions().map(({ id }) => id),
          )[0] as number,
        )
        throw new Error('rolled back')
      }),
    ).toThrow('rolled back')
    expect(heldBytes(store, 'ana')).toBe(ana)
    store.close()
  })
})
