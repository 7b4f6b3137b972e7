/** QE-019: what an older version has cut is cut again in turns of others. */
import { expect, it, vi } from 'vitest'
import { recutting } from '../../../src/engine/background/recutting.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import { chunkContent } from '../../../src/text/chunk.ts'
import { draftOf, lineChunks } from '../../support/entries.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { turnsOf } from '../../support/turns-of.ts'

vi.mock('../../../src/base/turns.ts', async original => (await import('../../support/turns-of.ts')).alwaysDue(original))

/** Passages that are read, compared and written in one step. */
const CHUNKS_AT_ONCE = 512
const LINES = 5_000

it('QE-019: passages of older stores are cut and written in many turns, and nobody sees a part of an entry', async () => {
  using folder = tempFolder()
  const store = openSqliteStore({ file: folder.file('store.db') })
  const content = Array.from({ length: LINES }, (_, at) => `line ${at} of a long entry that was cut otherwise`).join(
    '\n',
  )
  const draft = draftOf({ id: 'long', content })
  // With the ends of lines, so that nothing of the content is left out.
  const lines = lineChunks(draft).map(line => ({ ...line, end: Math.min(line.end + 1, content.length) }))
  const key = store.write(1, writer => writer.put(draft, lines).key)
  const cut = chunkContent(content, { format: 'markdown' })
  const seen = new Set<number>()
  const { signal } = new AbortController()
  const { turns } = await turnsOf(
    async () =>
      recutting(store)?.run(
        2,
        signal,
        () => undefined,
        () => undefined,
      ),
    () => seen.add(store.chunksOf(key).length),
  )
  expect(turns).toBeGreaterThan(content.length / (1 << 16) + LINES / CHUNKS_AT_ONCE)
  expect([...seen]).toEqual(expect.arrayContaining([LINES]))
  for (const count of seen) expect([LINES, cut.length]).toContain(count)
  expect(store.chunksOf(key)).toHaveLength(cut.length)
  store.close()
})
