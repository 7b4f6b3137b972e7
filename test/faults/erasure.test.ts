/** Deleting means deleting: of what was deleted or replaced no byte is left in the home. */
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { seededUniform } from '../../src/testing/seeded.ts'
import { tempFolder } from '../../src/testing/temp-folder.ts'
import { openToyEmbedder } from '../../src/testing/toy-embedder.ts'
import { openTestEngine } from '../support/engines.ts'
import { findBytes, markOf, textNeedles } from '../support/find-bytes.ts'

const random = seededUniform(8)

async function openHome(home: string, background: boolean): Promise<Engine> {
  return openTestEngine({ home, create: true, background, embedder: openToyEmbedder() })
}

it('an entry that is deleted', async () => {
  const folder = tempFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const mark = markOf(random)
  const engine = await openHome(folder.path, false)
  const fill = Array.from({ length: 600 }, (_, at) => ({ id: `fill-${at}`, content: `filling number ${at}` }))
  const content = `Some words and ${mark} among them.`
  await engine.put({
    entries: [
      ...fill,
      { id: 'marked', content, title: mark, tags: [mark], metadata: { [mark]: mark }, origin: `/x/${mark}` },
    ],
    wait: true,
  })
  await engine.query({ text: mark })
  await engine.close()
  const needles = textNeedles(mark)
  const places = findBytes([folder.path], needles).map(({ file }) => file)
  expect(places.sort()).toEqual(['index/words.snapshot', 'store.db'])
  const again = await openHome(folder.path, true)
  await again.delete({ ids: ['marked'] })
  await vi.waitFor(() => expect(findBytes([folder.path], needles)).toEqual([]), { timeout: 20_000, interval: 500 })
  await again.close()
  expect(findBytes([folder.path], needles)).toEqual([])
})
