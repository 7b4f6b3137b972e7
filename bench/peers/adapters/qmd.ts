/** qmd, which agents search notes with: its search for words alone. All else it does asks models for which it has no file here. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface Qmd {
  createStore(options: Readonly<Record<string, unknown>>): Promise<Store>
}

interface Store {
  update(): Promise<unknown>
  searchLex(text: string, options: { readonly limit: number }): Promise<readonly { readonly displayPath: string }[]>
  close(): Promise<void>
}

export const peer: Peer = {
  name: 'qmd, words alone',
  version: () => versionOf('@tobilu/qmd'),
  holds: 'texts',
  settings:
    'one Markdown file a text; searchLex(), which wants all words (as beginnings of words), so it is asked something narrower than the others. Update: the file is written and update() called',
  durability: 'files are the truth, its SQLite index follows them',
  async build(folder, items) {
    mkdirSync(join(folder, 'notes'))
    for (let row = 0; row < items.count; row++) writeFileSync(join(folder, 'notes', `${row}.md`), items.of(row).text)
    const store = await storeIn(folder)
    await store.update()
    await store.close()
  },
  async open(folder) {
    const store = await storeIn(folder)
    return {
      words: async (text, k) =>
        (await store.searchLex(text, { limit: k })).map(({ displayPath }) =>
          Number(displayPath.match(/(\d+)\.md$/)?.[1]),
        ),
      close: () => store.close(),
    }
  },
}

async function storeIn(folder: string): Promise<Store> {
  const { createStore } = await load<Qmd>('@tobilu/qmd')
  const notes = { path: join(folder, 'notes'), pattern: '**/*.md' }
  return createStore({ dbPath: join(folder, 'index.sqlite'), config: { collections: { notes } } })
}
