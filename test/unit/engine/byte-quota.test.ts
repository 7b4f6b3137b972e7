/** QE-019: what a viewer may keep by requests from outside, counted by the store. */
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { ByteQuota } from '../../../src/engine/byte-quota.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import type { CallContext } from '../../../src/model/operation.ts'
import { audience } from '../../../src/model/partition.ts'
import { callOperation, makeCatalog } from '../../../src/ops/catalog.ts'
import { USAGE } from '../../../src/store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { heldBytes } from '../../../src/store/usage.ts'
import { openTestEngine } from '../../support/engines.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

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
    // Others have room of their own; so has the owner, and the requester on this machine.
    await put(engine, of('ana'), 'b', 6_000)
    await put(engine, of('owner'), 'c', 60_000)
    await put(engine, of('ben', false), 'd', 60_000)
    await expect(put(engine, of('ben'), 'e', 1)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await engine.close()
  })

  it('QE-019: is counted for input that is nested as deep as a request may be, and never a bug', async () => {
    const engine = await open()
    let deep: readonly unknown[] = []
    for (let level = 0; level < 50_000; level++) deep = [deep]
    const answer = await callOperation(makeCatalog(engine), engine, 'context.body_files_add', deep as never, of('ben'))
    expect(answer).toMatchObject({ status: 'error' })
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

  interface Family {
    readonly write: (number: number, concepts: readonly number[]) => readonly [operation: string, input: unknown]
    /** Deletes what the first write has made, whose output is `made`. Absent: nothing of it can be deleted. */
    readonly remove?: (made: never) => readonly [operation: string, input: unknown]
  }
  const HASHTAGS = ['#c', '#m1', '#m2', '#m3', '#m4', '#m5', '#m6', '#o']
  const VOCABULARY = HASHTAGS.map(tag => `${tag} ${{ c: 'core', m: 'mid', o: 'outer' }[tag[1] as 'c']}`).join('\n')
  const LONG = 'x'.repeat(900)
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`domain-${at}`, 0.5]))
  const families: Readonly<Record<string, Family>> = {
    entries: {
      write: at => ['put', { entries: [{ id: `e${at}`, content: LONG }] }],
      remove: () => ['delete', { ids: ['e0'] }],
    },
    'tags and metadata of entries': {
      write: at => [
        'put',
        { entries: [{ id: `e${at}`, content: 'x', tags: [LONG.slice(0, 150)], metadata: { note: LONG } }] },
      ],
      remove: () => ['delete', { ids: ['e0'] }],
    },
    messages: {
      write: at => ['conversations.remember', { text: LONG, id: `m${at}`, speaker: 'Ben' }],
      remove: ({ id }: { id: string }) => ['delete', { ids: [id] }],
    },
    nodes: {
      write: at => [
        'chroma.store',
        { label: `n${at}`, content: `${at} ${LONG}`, hashtags: HASHTAGS, metadata: { note: LONG } },
      ],
      remove: ({ entry_id }: { entry_id: string }) => ['chroma.delete', { entry_id }],
    },
    beliefs: {
      write: at => ['beliefs.put', { content: `${at} ${LONG}`, confidence: { method_quality: 0.5 } }],
      remove: ({ belief }: { belief: { id: string } }) => ['delete', { ids: [belief.id] }],
    },
    'statements of trust': {
      write: at => ['trust.set', { target: `agent-${at}`, trust_level: 0.5, domain_trust: many }],
      remove: () => ['trust.remove', { target: 'agent-0' }],
    },
    concepts: {
      write: at => ['context.mind_concepts_create', { name: `c${at}`, type: 'CLASS', doc: LONG, signature: LONG }],
      remove: ({ result }: { result: { id: number } }) => ['context.mind_concepts_delete', { id: result.id }],
    },
    links: {
      write: (at, [source, target]) => ['context.mind_edges_create', { source, target, relation: `R${at}${LONG}` }],
      remove: ({ result }: { result: { id: number } }) => ['context.mind_edges_delete', { id: result.id }],
    },
    federations: { write: at => ['federations.create', { id: `f${at}`, label: LONG.slice(0, 190) }] },
  }

  const stores = [
    ['in memory', () => openMemoryStore()],
    ['on SQLite', () => openSqliteStore({ file: ':memory:' })],
  ] as const
  it.each(Object.entries(families).flatMap(([name, family]) => stores.map(store => [name, ...store, family] as const)))(
    'QE-019: is held to it by what it writes of %s %s, and has room again for what it deletes of it',
    async (_name, _place, openStore, { write, remove }) => {
      const engine = await open({ store: openStore() })
      const catalog = makeCatalog(engine)
      const call = ([name, input]: readonly [string, unknown], viewer = 'ben') =>
        callOperation(catalog, engine, name, input, of(viewer))
      await call(['agents.create', { id: 'ben' }], 'owner')
      await call(['context.mind_init', {}], 'owner')
      await call(['chroma.assign', { text: VOCABULARY }], 'owner')
      const concepts: number[] = []
      for (const name of ['one', 'two']) {
        const { result } = (await call(['context.mind_concepts_create', { name, type: 'CLASS' }])) as never
        concepts.push((result as { id: number }).id)
      }
      const made: unknown[] = []
      let refused: unknown
      while (refused === undefined && made.length < 200) {
        await call(write(made.length, concepts)).then(
          result => made.push(result),
          error => {
            refused = error
          },
        )
      }
      expect(refused).toMatchObject({
        code: expect.stringMatching(/^(quota_exceeded|RATE_LIMITED)$/),
        message: expect.stringContaining(`of ${QUOTA} bytes`),
      })
      expect(made.length).toBeGreaterThan(1)
      if (remove !== undefined) {
        await call(remove(made[0] as never))
        await call(write(1_000, concepts))
      }
      // The count that moved with the writes is that of all that is there.
      const { store } = engine.host('c64')
      const moved = heldBytes(store, 'ben')
      store.write(1, writer => writer.table(USAGE).delete({ holder: 'ben' }))
      await expect(put(engine, of('ben'), 'more', QUOTA)).rejects.toMatchObject({ code: 'quota_exceeded' })
      expect(heldBytes(store, 'ben')).toBe(moved)
      await engine.close()
    },
  )

  it('QE-019: is counted with the older versions of its beliefs, which are kept', async () => {
    const engine = await open()
    const call = (name: string, input: unknown) => callOperation(makeCatalog(engine), engine, name, input, of('ben'))
    await callOperation(makeCatalog(engine), engine, 'agents.create', { id: 'ben' }, of('owner'))
    const put = { content: 'x'.repeat(4_000), confidence: { method_quality: 0.5 } }
    const { belief } = (await call('beliefs.put', put)) as { belief: { id: string } }
    await call('beliefs.supersede', { belief_id: belief.id, content: 'y'.repeat(4_000) })
    await expect(call('beliefs.put', { ...put, content: 'z'.repeat(3_000) })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
    await engine.close()
  })

  it('QE-019: pays nothing for what reading leaves behind, and nobody pays for what others write', async () => {
    const engine = await open()
    const call = (name: string, input: unknown, viewer: string) =>
      callOperation(makeCatalog(engine), engine, name, input, of(viewer))
    const { store } = engine.host('c64')
    await put(engine, of('ben'), 'a', 100)
    await put(engine, of('ana'), 'b', 100)
    await put(engine, of('ben'), 'a', 101)
    const held = [heldBytes(store, 'ben'), heldBytes(store, 'ana')]
    await call('chroma.assign', { text: VOCABULARY }, 'owner')
    const made = (await call('chroma.store', { label: 'n', content: 'of all', hashtags: HASHTAGS }, 'owner')) as {
      entry_id: string
    }
    await call('chroma.query', { hashtags: HASHTAGS }, 'ben')
    await call('chroma.decay', {}, 'ben')
    expect([heldBytes(store, 'ben'), heldBytes(store, 'ana')]).toEqual(held)
    await call('chroma.delete', made, 'owner')
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
    const quota = new ByteQuota(store, systemClock, 1e9, [])
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
