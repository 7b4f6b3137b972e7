/** Texts that an embedder refuses cost nobody else a vector; an embedder that is down is not asked all the time. */
import { describe, expect, it, vi } from 'vitest'
import { type Embedder, modelKey } from '../../../src/embed/embedder.ts'
import { Embedding } from '../../../src/engine/background/background.ts'
import { Lease } from '../../../src/engine/background/lease.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { LEASES } from '../../../src/store/core-tables.ts'
import { openMemoryStore } from '../../../src/store/sqlite-store.ts'
import { failingEmbedder } from '../../support/embedders.ts'
import { openTestEngine } from '../../support/engines.ts'
import { draftOf, wholeChunk } from '../../support/entries.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

/** Refuses requests in which a text has this word, quoting it; tells what it was asked. */
function pickyEmbedder(word: string, asked: string[][] = []): Embedder {
  const inner = openToyEmbedder()
  return {
    ...inner,
    embed(texts, kind, signal) {
      asked.push([...texts])
      const bad = texts.find(text => text.includes(word) || text === '')
      if (bad === undefined) return inner.embed(texts, kind, signal)
      return Promise.reject(new QuerentError('provider_failed', `answered 400: ${bad}`, { refused: 'text' }))
    },
  }
}

const notes = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `n${at}`, content: `a fox, ${at}` }))
const ana = { viewer: { id: 'ana' } }
const ben = { viewer: { id: 'ben' } }

describe('a text that the embedder refuses', () => {
  it('keeps no other text from a vector, and is reported to those who see it', async () => {
    const engine = await openTestEngine({ embedder: pickyEmbedder('poison') })
    await engine.put({ entries: [{ id: 'secret', content: 'poison for kings' }] }, ben)
    const mine = await engine.put({ entries: notes(40), wait: true }, ana)
    expect(mine.embedding_error).toBeNull()
    expect(await engine.status(ana)).toMatchObject({ chunks: 40, embedded: 40 })
    const his = await engine.put({ entries: notes(1), wait: true }, ben)
    expect(his.embedding_error).toBe('the embedder refuses one text')
    expect(await engine.status(ben)).toMatchObject({ chunks: 2, embedded: 1 })
    const reported = await engine.put({ entries: notes(2), wait: true })
    expect(reported.embedding_error).toMatch(/^the embedder refuses one text: answered 400: poison for kings/)
    const { findings } = await engine.doctor()
    expect(findings.find(({ check }) => check === 'vectors')).toMatchObject({
      ok: false,
      message: expect.stringContaining('43 of 44 chunks have a vector; the embedder refuses 1: answered 400'),
    })
    await engine.close()
  })

  it('is not asked again until it changes', async () => {
    const asked: string[][] = []
    const engine = await openTestEngine({ embedder: pickyEmbedder('poison', asked) })
    await engine.put({ entries: [{ id: 'a', content: 'poison' }], wait: true })
    const before = asked.length
    await engine.put({ entries: notes(3), wait: true })
    expect(asked.slice(before).flat().join()).not.toContain('poison')
    const { embedding_error } = await engine.put({ entries: [{ id: 'a', content: 'honey' }], wait: true })
    expect(embedding_error).toBeNull()
    expect(await engine.status()).toMatchObject({ chunks: 4, embedded: 4 })
    await engine.close()
  })

  it('is told from an embedder that refuses everything, which sets nothing aside', async () => {
    const engine = await openTestEngine({ embedder: pickyEmbedder('') })
    const { embedding_error } = await engine.put({ entries: notes(3), wait: true })
    expect(embedding_error).toBe('answered 400: a short test')
    await expect(engine.embedded()).rejects.toMatchObject({ code: 'provider_failed' })
    await engine.close()
  })

  it('is never the empty one', async () => {
    const asked: string[][] = []
    const engine = await openTestEngine({ embedder: pickyEmbedder('poison', asked) })
    await engine.put({ entries: [{ id: 'bare', content: ' ', title: ' ' }], wait: true })
    expect(asked.flat()).not.toContain('')
    await engine.close()
  })
})

it('an embedder that fails is asked again after growing pauses, which end with success', async () => {
  const store = openMemoryStore()
  store.table(LEASES)
  store.write(1, writer =>
    writer.put(draftOf({ id: 'a' }), [{ start: 0, end: 1, startLine: 1, endLine: 1, headings: [] }]),
  )
  let [down, tries, time] = [true, 0, 0]
  const isDown = () => {
    tries++
    return down
  }
  const embedder = failingEmbedder(openToyEmbedder(), isDown)
  const elapsed = () => time
  const embedding = new Embedding(
    store,
    { targets: [embedder] },
    new Lease(store, 'embedding', 'me', elapsed),
    () => 1,
    elapsed,
  )
  const triedAt: number[] = []
  for (; time < 40_000; time += 1_000) {
    const before = tries
    embedding.start()
    await new Promise(resolve => setTimeout(resolve))
    if (tries > before) triedAt.push(time / 1_000)
  }
  expect(triedAt).toEqual([0, 2, 6, 14, 30])
  expect(embedding.error).toMatchObject({ code: 'embedder_failed' })
  down = false
  await embedding.settled(new AbortController().signal)
  expect(store.countVectors(modelKey(embedder.model), [1])).toBe(1)
  await embedding.close()
})

it('vectors that come after another process took the lease are not written', async () => {
  const store = openMemoryStore()
  const time = { now: 1_000_000 }
  const lease = (holder: string) => new Lease(store, 'embedding', holder, () => time.now)
  const toy = openToyEmbedder()
  const other = lease('other')
  let isStopped = true
  const slow: Embedder = {
    ...toy,
    embed: async (texts, kind, signal) => {
      // As if the process had been stopped here for a term.
      if (isStopped) {
        isStopped = false
        time.now += 20_000
        expect(await other.take()).toBe(true)
      }
      return toy.embed(texts, kind, signal)
    },
  }
  const draft = draftOf({ id: 'a', content: 'fox' })
  store.write(1, writer => writer.put(draft, wholeChunk(draft)))
  const key = modelKey(slow.model)
  const now = () => 1
  const mine = new Embedding(store, { targets: [slow] }, lease('mine'), now, () => time.now)
  const settled = mine.settled(new AbortController().signal)
  await vi.waitFor(() => expect(isStopped).toBe(false))
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(store.chunksWithoutVector(key, 9)).toHaveLength(1)
  expect(mine.error).toBeNull()
  other.release()
  await settled
  expect(store.chunksWithoutVector(key, 9)).toHaveLength(0)
  await mine.close()
})

describe('an entry without a title', () => {
  it('gives the embedder the beginning of its text once, and later passages begin with it', async () => {
    const asked: string[][] = []
    const engine = await openTestEngine({ embedder: pickyEmbedder('poison', asked) })
    const beginning =
      'Spring tide comes with the new moon and with the full moon, when the pull of the sun is added to that'
    const content = `${beginning} of the moon. ${'Water rises and falls twice a day. '.repeat(60)}`
    await engine.put({ entries: [{ id: 'a', content }], wait: true })
    const [first = '', ...later] = asked.flat()
    expect(first.startsWith(`${beginning} of the moon. Water`)).toBe(true)
    expect(later.length).toBeGreaterThan(0)
    for (const text of later) expect(text.startsWith(`${beginning} of the moon.`)).toBe(true)
    await engine.close()
  })
})
