/** All that are measured, each in a module of its own that is loaded in the peer's process only. */
import type { Peer } from './peer.ts'

interface Entry {
  readonly name: string
  readonly package: string | null
  load(): Promise<Peer>
}

export const PEERS: readonly Entry[] = [
  { name: 'Querent', package: null, load: async () => (await import('../adapters/querent.ts')).peer },
  {
    name: 'Querent, its indexes alone',
    package: null,
    load: async () => (await import('../adapters/querent.ts')).legs,
  },
  {
    name: 'SQLite: FTS5 + sqlite-vec',
    package: 'sqlite-vec',
    load: async () => (await import('../adapters/sqlite.ts')).peer,
  },
  { name: 'usearch', package: 'usearch', load: async () => (await import('../adapters/usearch.ts')).peer },
  { name: 'hnswlib-node', package: 'hnswlib-node', load: async () => (await import('../adapters/hnswlib.ts')).peer },
  { name: 'MiniSearch', package: 'minisearch', load: async () => (await import('../adapters/minisearch.ts')).peer },
  { name: 'Orama', package: '@orama/orama', load: async () => (await import('../adapters/orama.ts')).peer },
  { name: 'LanceDB', package: '@lancedb/lancedb', load: async () => (await import('../adapters/lancedb.ts')).peer },
  { name: 'Chroma server', package: null, load: async () => (await import('../adapters/chroma.ts')).peer },
]

export async function peerNamed(name: string): Promise<Peer> {
  const entry = PEERS.find(one => one.name === name)
  if (entry === undefined) throw new Error(`there is no peer ${JSON.stringify(name)}`)
  return entry.load()
}
