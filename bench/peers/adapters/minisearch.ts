/** MiniSearch: words alone, in memory. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface MiniSearchPackage {
  readonly default: { new (options: Options): MiniSearch; loadJSON(json: string, options: Options): MiniSearch }
}

interface Options {
  readonly fields: readonly string[]
  readonly storeFields: readonly string[]
}

interface Document {
  readonly id: number
  readonly content: string
}

interface MiniSearch {
  addAll(documents: readonly Document[]): void
  add(document: Document): void
  replace(document: Document): void
  discard(id: number): void
  search(text: string): readonly { readonly id: number }[]
}

const OPTIONS: Options = { fields: ['content'], storeFields: ['content'] }
const FILE = 'index.json'

export const peer: Peer = {
  name: 'MiniSearch',
  version: () => versionOf('minisearch'),
  holds: 'texts',
  settings: 'defaults (OR, BM25+), texts stored; it scores and sorts all matches, of which the first ten are taken',
  durability: 'in memory; its JSON is written again as a whole',
  heap: 8192,
  async build(folder, items) {
    const index = new (await load<MiniSearchPackage>('minisearch')).default(OPTIONS)
    for (let row = 0; row < items.count; row++) index.add({ id: row, content: items.of(row).text })
    writeFileSync(join(folder, FILE), JSON.stringify(index))
  },
  async open(folder) {
    const { default: MiniSearch } = await load<MiniSearchPackage>('minisearch')
    const index = MiniSearch.loadJSON(readFileSync(join(folder, FILE), 'utf8'), OPTIONS)
    return {
      words: (text, k) =>
        index
          .search(text)
          .slice(0, k)
          .map(({ id }) => id),
      put: ({ row, text }, isNew) =>
        isNew ? index.add({ id: row, content: text }) : index.replace({ id: row, content: text }),
      remove: row => index.discard(row),
      close: () => {},
    }
  },
}
