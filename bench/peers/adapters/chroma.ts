/** A Chroma server on this machine, asked over HTTP by its own client. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ChromaClient, type Collection, type Where } from 'chromadb'
import { startChroma } from '../../../test/support/chroma-server.ts'
import type { RowFilter } from '../lib/filters.ts'
import type { Item } from '../lib/item.ts'
import type { Peer } from '../lib/peer.ts'

const BATCH = 2000
const NAME = 'items'

export const peer: Peer = {
  name: 'Chroma server',
  version: () => 'server 1.0 (bindings 1.0.5), client 3.5.0',
  holds: 'texts',
  isServer: true,
  settings:
    'one local server process over HTTP on loopback; HNSW, cosine, defaults of building; knob: ef_search; filters by `where`; documents included. Its memory is another process: not counted. Newer servers need a newer C library than this machine has',
  durability: 'written to its log before the answer; its index follows',
  async build(folder, items) {
    const data = join(folder, 'data')
    mkdirSync(data)
    const server = await startChroma(data)
    const collection = await clientOf(server.url).createCollection({
      name: NAME,
      configuration: { hnsw: { space: 'cosine' } },
      embeddingFunction: null as never,
    })
    for (let from = 0; from < items.count; from += BATCH) {
      await collection.add(
        columnsOf(Array.from({ length: Math.min(BATCH, items.count - from) }, (_, i) => items.of(from + i))),
      )
    }
    await server.stop()
  },
  async open(folder) {
    const server = await startChroma(join(folder, 'data'))
    const collection = await clientOf(server.url).getCollection({ name: NAME, embeddingFunction: undefined as never })
    return {
      knob: () => ({ name: 'ef_search', values: [50, 100, 200, 400, 800] }),
      set: value => collection.modify({ configuration: { hnsw: { ef_search: value } } }),
      nearest: ({ list }, k, filter) => ask(collection, list, k, filter),
      put: (item, isNew) => (isNew ? collection.add(columnsOf([item])) : collection.update(columnsOf([item]))),
      remove: row => collection.delete({ ids: [String(row)] }),
      close: () => server.stop(),
    }
  },
}

async function ask(
  collection: Collection,
  list: number[],
  k: number,
  filter: RowFilter | undefined,
): Promise<readonly number[]> {
  const { ids } = await collection.query({
    queryEmbeddings: [list],
    nResults: k,
    include: ['documents', 'distances'],
    ...(filter && { where: whereOf(filter) }),
  })
  return (ids[0] ?? []).map(Number)
}

function clientOf(url: string): ChromaClient {
  const { hostname, port } = new URL(url)
  return new ChromaClient({ host: hostname, port: Number(port), ssl: false })
}

function whereOf({ field, op, value }: RowFilter): Where {
  return { [field]: op === 'below' ? { $lt: value } : value }
}

function columnsOf(items: readonly Item[]) {
  return {
    ids: items.map(({ row }) => String(row)),
    embeddings: items.map(({ vector }) => [...vector]),
    documents: items.map(({ text }) => text),
    metadatas: items.map(({ fields }) => ({ ...fields })),
  }
}
