/** hnswlib-node: the graph library that the others are measured by. Its filter is a call into JavaScript for each row met. */
import { join } from 'node:path'
import { keeps } from '../lib/filters.ts'
import type { Fields } from '../lib/item.ts'
import { load, type Peer, versionOf } from '../lib/peer.ts'

interface Hnswlib {
  readonly default: { readonly HierarchicalNSW: new (metric: string, dimensions: number) => Graph }
}

interface Graph {
  initIndex(options: Readonly<Record<string, unknown>>): void
  addPoint(vector: number[], label: number, replaceDeleted?: boolean): void
  markDelete(label: number): void
  searchKnn(vector: number[], k: number, filter?: (label: number) => boolean): { readonly neighbors: number[] }
  setEf(ef: number): void
  writeIndexSync(path: string): void
  readIndexSync(path: string, allowReplaceDeleted?: boolean): void
  resizeIndex(maxElements: number): void
}

const DIMENSIONS = 384
const FILE = 'index.hnsw'
const SPARE = 1000

export const peer: Peer = {
  name: 'hnswlib-node',
  version: () => versionOf('hnswlib-node'),
  holds: 'ids',
  settings:
    'inner product, M 16, efConstruction 200 (its defaults), built by one thread (there is no other way); knob: ef; a filter is a JavaScript callback over typed fields',
  durability: 'in memory; the file is written again as a whole by writeIndex()',
  async build(folder, items) {
    const graph = await make()
    graph.initIndex({
      maxElements: items.count + SPARE,
      m: 16,
      efConstruction: 200,
      randomSeed: 1,
      allowReplaceDeleted: true,
    })
    for (let row = 0; row < items.count; row++) {
      graph.addPoint([...items.vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS)], row)
    }
    graph.writeIndexSync(join(folder, FILE))
  },
  async open(folder, items) {
    const fields = Array.from({ length: items.count }, (_, row): Fields => items.of(row).fields)
    const graph = await make()
    graph.readIndexSync(join(folder, FILE), true)
    graph.resizeIndex(items.count + SPARE)
    graph.setEf(64)
    return {
      knob: () => ({ name: 'ef', values: [16, 32, 64, 128, 256, 512, 1024, 2048] }),
      set: value => graph.setEf(value),
      nearest: ({ list }, k, filter) => {
        const pass = filter && ((row: number) => keeps(filter, fields[row] as Fields))
        return graph.searchKnn(list, k, pass).neighbors
      },
      put: item => graph.addPoint([...item.vector], item.row),
      remove: row => graph.markDelete(row),
      close: () => {},
    }
  },
}

async function make(): Promise<Graph> {
  const { HierarchicalNSW } = (await load<Hnswlib>('hnswlib-node')).default
  return new HierarchicalNSW('ip', DIMENSIONS)
}
