/** Stores whose chunks an older version made are cut again in the background, go on where they stopped, and answer meanwhile. */
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { recutting } from '../../../src/engine/background/recutting.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { ChunkDraft, EntryKey } from '../../../src/model/entry.ts'
import { FILES } from '../../../src/store/core-tables.ts'
import { openMemoryStore, openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { chunk, chunkContent } from '../../../src/text/chunk.ts'
import { markdownStructure } from '../../../src/text/markdown-structure.ts'
import { textOutline } from '../../../src/text/text-outline.ts'
import { draftOf } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const HEADER = '| Port | Service |\n| --- | --- |\n'

/** A page with a table that is longer than a chunk; `at` makes its words its own. */
function page(at: number): string {
  const rows = Array.from({ length: 40 }, (_, row) => `| ${row} | service${at}x${row} of the harbour office |\n`)
  return `# Page ${at}\n\nThe ports of house ${at}.\n\n${HEADER}${rows.join('')}`
}

/** As version 1 cut: it knew headings, and neither tables nor fences. */
function oldChunks(content: string): readonly ChunkDraft[] {
  const { headings } = markdownStructure(content)
  return chunk(content, { form: 'prose', headings }).map(({ sections: _, ...rest }) => rest)
}

const MODEL = 'test@1'

function put(store: Store, id: string, content: string, chunks: readonly ChunkDraft[], kind = 'note'): EntryKey {
  return store.write(1, writer => {
    const { key } = writer.put({ ...draftOf({ id }), kind, title: id, content }, chunks)
    const vectors = writer.chunksOf(key).map(({ key: chunk }) => ({ chunk, vector: new Float32Array([1, 0]) }))
    writer.putVectors(MODEL, vectors)
    return key
  })
}

const bare = (store: Store, key: EntryKey): readonly ChunkDraft[] =>
  store.chunksOf(key).map(({ key: _key, entry: _entry, ordinal: _ordinal, ...draft }) => draft)

/** With the chunks that version 1 would have exported. */
async function* asOld(lines: AsyncIterable<unknown>): AsyncIterable<unknown> {
  for await (const line of lines)
    yield JSON.parse(JSON.stringify(line), (name, value) => (name === 'chunks' ? oldChunks(page(0)) : value))
}

const never = new AbortController().signal

describe('a store that an older version has cut', () => {
  it('is cut again, goes on where it was interrupted, and answers rightly meanwhile (QE-009)', async () => {
    using folder = tempFolder()
    const file = join(folder.path, 'store.db')
    const count = 90
    {
      const store = openSqliteStore({ file })
      for (let at = 0; at < count; at++) put(store, `p${at}`, page(at), oldChunks(page(at)))
      const stop = new AbortController()
      const seen: number[] = []
      const report = ({ done, total }: { done: number; total: number | null }) => {
        seen.push(done)
        expect(total).toBe(count)
        stop.abort()
      }
      await recutting(store)?.run(2, stop.signal, report, () => undefined)
      expect(seen).toHaveLength(1)
      const [some = 0] = seen
      expect(some).toBeGreaterThan(0)
      expect(some).toBeLessThan(count)
      const states = store.scanEntries(0, count).map(key => store.chunksOf(key).some(({ lead }) => lead !== undefined))
      expect(states).toEqual(Array.from({ length: count }, (_, at) => at < some))
      await expectAnswers(file, [0, some - 1, some, count - 1], some)
      await store.close()
    }
    const store = openSqliteStore({ file })
    const seen: number[] = []
    await recutting(store)?.run(
      3,
      never,
      ({ done }) => seen.push(done),
      () => undefined,
    )
    // Those of the first run are not looked at again.
    expect(seen[0]).toBeLessThan(count)
    for (const [at, key] of store.scanEntries(0, count).entries())
      expect(bare(store, key)).toEqual(chunkContent(page(at), { format: 'markdown' }))
    expect(recutting(store)).toBeNull()
    await expectAnswers(file, [0, 70, count - 1], count)
    await store.close()
  })

  async function expectAnswers(file: string, pages: readonly number[], cut: number): Promise<void> {
    await using engine = await openEngine({ store: openSqliteStore({ file }), embedder: 'none', background: false })
    for (const at of pages) {
      const { items } = await engine.query({ text: `service${at}x31`, mode: 'words', touch: false })
      expect(items[0]).toMatchObject({ id: `p${at}` })
      const { text, start_line: line, end_line: last, framed = [0, 0] } = items[0]?.excerpt ?? {}
      const own = text?.slice(framed[0], text.length - framed[1])
      expect(own).toContain(`service${at}x31 `)
      expect(
        page(at)
          .split('\n')
          .slice((line ?? 0) - 1, last)
          .join('\n'),
      ).toContain(own)
      // Old chunks answer as they did.
      if (at < cut) expect(text).toContain('| Port | Service |')
    }
  }

  it('keeps chunks and vectors where nothing changes, and what was cut by other rules', async () => {
    using folder = tempFolder()
    const store = openSqliteStore({ file: join(folder.path, 'store.db') })
    const prose = 'The ships went out in the morning and came back in the evening. '.repeat(60)
    const code = `${'let a = 1\n'.repeat(200)}`
    const whole = (content: string) => [{ start: 0, end: content.length, startLine: 1, endLine: 1, headings: ['x'] }]
    const same = [
      put(store, 'prose', prose, chunkContent(prose, { format: 'plain' })),
      put(store, 'code', code, chunkContent(code, { format: 'code' }), 'code'),
      put(store, 'belief', page(1), whole(page(1)), 'belief'),
      put(store, 'whole', page(2), whole(page(2))),
      put(store, 'part', page(3), [{ start: 0, end: 20, startLine: 1, endLine: 3, headings: [] }]),
    ]
    const rst = `Ports\n=====\n\n.. code-block:: sh\n\n${'   run the harbour office now\n'.repeat(60)}`
    const file = put(store, 'rst', rst, chunk(rst, { form: 'prose', headings: textOutline(rst, 'rst').headings }))
    const html = put(store, 'html', page(4), oldChunks(page(4)))
    store.write(1, writer => {
      const row = { root: '/a', hash: '', size: 0, modified_at: 0 }
      writer.table(FILES).put({ ...row, entry: file, path: 'a.rst' })
      writer.table(FILES).put({ ...row, entry: html, path: 'a.html' })
    })
    const before = [...same, html].map(key => store.chunksOf(key))
    await recutting(store)?.run(
      2,
      never,
      () => undefined,
      () => undefined,
    )
    expect([...same, html].map(key => store.chunksOf(key))).toEqual(before)
    const withVector = new Set(store.chunksWithoutVector(MODEL, 1_000).map(({ entry }) => entry))
    expect(same.some(key => withVector.has(key))).toBe(false)
    expect(bare(store, file).at(-1)?.lead).toBe('.. code-block:: sh')
    await store.close()
  })

  it('leaves chunks that a lens has put in front of the whole, and what a new store has got meanwhile', async () => {
    const content = 'The border colour. It is one of sixteen, and a byte holds it.'
    const first = { start: 0, end: 18, startLine: 1, endLine: 1, headings: [] }
    const chunks = [first, ...chunkContent(content, { format: 'plain' })]
    const old = openMemoryStore()
    const key = put(old, 'border', content, chunks, 'corpus')
    await recutting(old)?.run(
      1,
      never,
      () => {},
      () => {},
    )
    expect(bare(old, key)).toEqual(chunks)
    const fresh = openMemoryStore()
    const job = recutting(fresh)
    const page0 = put(fresh, 'p0', page(0), oldChunks(page(0)))
    await job?.run(
      1,
      never,
      () => {},
      () => {},
    )
    expect(bare(fresh, page0)).toEqual(oldChunks(page(0)))
    expect(recutting(fresh)).toBeNull()
  })

  it('writes nothing once another process has taken over', async () => {
    using folder = tempFolder()
    const store = openSqliteStore({ file: join(folder.path, 'store.db') })
    const key = put(store, 'p', page(0), oldChunks(page(0)))
    const lost = recutting(store)?.run(
      2,
      never,
      () => undefined,
      () => {
        throw new Error('taken over')
      },
    )
    await expect(lost).rejects.toThrow('taken over')
    expect(bare(store, key)).toEqual(oldChunks(page(0)))
    await store.close()
  })

  it('is cut again by an engine that stays open, exported so, and what is imported by the next one', async () => {
    using home = tempFolder()
    const cut = (engine: { readonly store: Store }) =>
      engine.store.scanEntries(0, 10).every(key => engine.store.chunksOf(key).some(({ lead }) => lead !== undefined))
    const file = join(home.path, 'store.db')
    const store = openSqliteStore({ file })
    put(store, 'old', page(0), oldChunks(page(0)))
    {
      await using engine = await openEngine({ store, embedder: 'none' })
      await vi.waitFor(() => expect(cut({ store })).toBe(true), { timeout: 60_000, interval: 200 })
      await vi.waitFor(() => expect(recutting(store)).toBeNull(), { timeout: 60_000, interval: 200 })
      {
        const copy = openMemoryStore()
        await using other = await openEngine({ store: copy, embedder: 'none', background: false })
        await other.import(engine.export())
        expect(bare(copy, 1)).toEqual(chunkContent(page(0), { format: 'markdown' }))
      }
      await engine.import(asOld(engine.export()))
      expect(cut({ store })).toBe(false)
      expect(recutting(store)).not.toBeNull()
    }
  }, 150_000)
})
