import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Embedder } from '../../../src/embed/embedder.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { type TempFolder, tempFolder } from '../../support/temp-folder.ts'
import { openToyEmbedder } from '../../support/toy-embedder.ts'

let folder: TempFolder
let store: Store
/** Whether the vector index was built: it reads all vectors then. */
let isLoaded: boolean
beforeEach(() => {
  folder = tempFolder()
  store = openSqliteStore({ file: folder.file('store.db') })
  isLoaded = false
  const scan = store.scanVectors.bind(store)
  store.scanVectors = (...given) => {
    isLoaded = true
    return scan(...given)
  }
})
afterEach(() => folder[Symbol.dispose]())

/** Says whether the index was there before the question's vector was. */
function watching(): Embedder & { loadedBefore: boolean | null } {
  const toy = openToyEmbedder()
  const watched = {
    ...toy,
    loadedBefore: null as boolean | null,
    embed: async (...given: Parameters<Embedder['embed']>) => {
      await new Promise(resolve => setTimeout(resolve, 1))
      if (given[1] === 'query') watched.loadedBefore = isLoaded
      return toy.embed(...given)
    },
  }
  return watched
}

describe('the vector index', () => {
  it.each([true, false])('is loaded while the model works if the engine is warm (%s)', async warm => {
    const embedder = watching()
    await using engine = await openEngine({ store, embedder, warm, background: false })
    await engine.put({ entries: [{ id: 'a', content: 'a quick fox' }], wait: true })
    expect(isLoaded).toBe(false)
    const page = await engine.query({ text: 'vixen' })
    expect(page.items.map(item => item.id)).toEqual(['a'])
    expect(embedder.loadedBefore).toBe(warm)
    expect(isLoaded).toBe(true)
  })

  it('is not needed by a question that cannot be embedded, and words answer', async () => {
    const embedder: Embedder = {
      ...openToyEmbedder(),
      embed: () => Promise.reject(new Error('out of order')),
    }
    await using engine = await openEngine({ store, embedder, warm: true, background: false })
    await engine.put({ entries: [{ id: 'a', content: 'a quick fox' }] })
    const page = await engine.query({ text: 'fox' })
    expect(page.items.map(item => item.id)).toEqual(['a'])
    expect(page.notes.map(note => note.code)).toEqual(['words_only'])
  })
})
