/** Vectra: vectors in a JSON file, compared one by one. */
import { join } from 'node:path'
import type { RowFilter } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface Vectra {
  readonly LocalIndex: new (folder: string) => LocalIndex
}

interface LocalIndex {
  createIndex(options: Readonly<Record<string, unknown>>): Promise<void>
  batchInsertItems(items: readonly object[]): Promise<unknown>
  insertItem(item: object): Promise<unknown>
  upsertItem(item: object): Promise<unknown>
  deleteItem(id: string): Promise<void>
  queryItems(
    vector: number[],
    text: string,
    k: number,
    filter?: object,
  ): Promise<readonly { readonly item: { readonly id: string } }[]>
}

export const peer: Peer = {
  name: 'Vectra',
  version: () => versionOf('vectra'),
  holds: 'texts',
  settings:
    'LocalIndex, fields indexed, text among the metadata; an exact scan. Words: it makes its word index anew at each question, which is not measured',
  durability: 'the whole JSON file is written at each change',
  async build(folder, items) {
    const index = await indexIn(folder)
    await index.createIndex({
      version: 1,
      metadata_config: { indexed: ['bucket', 'half', 'twentieth', 'twohundredth', 'text'] },
    })
    await index.batchInsertItems(Array.from({ length: items.count }, (_, row) => itemOf(items.of(row))))
  },
  async open(folder) {
    const index = await indexIn(folder)
    return {
      nearest: async ({ list }, k, filter) =>
        (await index.queryItems(list, '', k, filter && whereOf(filter))).map(({ item }) => Number(item.id)),
      put: (item, isNew) => (isNew ? index.insertItem(itemOf(item)) : index.upsertItem(itemOf(item))),
      remove: row => index.deleteItem(String(row)),
      close: () => {},
    }
  },
}

async function indexIn(folder: string): Promise<LocalIndex> {
  const { LocalIndex } = await load<Vectra>('vectra')
  return new LocalIndex(join(folder, 'vectra'))
}

function itemOf({ row, text, vector, fields }: Item): object {
  return { id: String(row), vector: [...vector], metadata: { ...fields, text } }
}

function whereOf({ field, op, value }: RowFilter): object {
  return { [field]: op === 'below' ? { $lt: value } : { $eq: value } }
}
