/** All that are measured, each in a module of its own that is loaded in the peer's process only. */
import type { Peer } from './peer.ts'

interface Entry {
  readonly name: string
  /** Fewer rows where all of them take too long. */
  readonly rows: 'all' | 'few' | 'both'
  readonly package: string | null
  load(): Promise<Peer>
}

export const PEERS: readonly Entry[] = [
  { name: 'Querent', rows: 'both', package: null, load: async () => (await import('../adapters/querent.ts')).peer },
  {
    name: 'Querent, its indexes alone',
    rows: 'both',
    package: null,
    load: async () => (await import('../adapters/querent.ts')).legs,
  },
  {
    name: 'SQLite: FTS5 + sqlite-vec',
    rows: 'both',
    package: 'sqlite-vec',
    load: async () => (await import('../adapters/sqlite.ts')).peer,
  },
  { name: 'usearch', rows: 'all', package: 'usearch', load: async () => (await import('../adapters/usearch.ts')).peer },
  {
    name: 'hnswlib-node',
    rows: 'all',
    package: 'hnswlib-node',
    load: async () => (await import('../adapters/hnswlib.ts')).peer,
  },
  {
    name: 'MiniSearch',
    rows: 'all',
    package: 'minisearch',
    load: async () => (await import('../adapters/minisearch.ts')).peer,
  },
  {
    name: 'Orama',
    rows: 'all',
    package: '@orama/orama',
    load: async () => (await import('../adapters/orama.ts')).peer,
  },
  {
    name: 'LanceDB',
    rows: 'all',
    package: '@lancedb/lancedb',
    load: async () => (await import('../adapters/lancedb.ts')).peer,
  },
  { name: 'Chroma server', rows: 'all', package: null, load: async () => (await import('../adapters/chroma.ts')).peer },
  {
    name: 'pgvector in PGlite',
    rows: 'few',
    package: '@electric-sql/pglite',
    load: async () => (await import('../adapters/pglite.ts')).peer,
  },
  { name: 'Vectra', rows: 'few', package: 'vectra', load: async () => (await import('../adapters/vectra.ts')).peer },
  {
    name: 'qmd, words alone',
    rows: 'few',
    package: '@tobilu/qmd',
    load: async () => (await import('../adapters/qmd.ts')).peer,
  },
]

export async function peerNamed(name: string): Promise<Peer> {
  const entry = PEERS.find(one => one.name === name)
  if (entry === undefined) throw new Error(`there is no peer ${JSON.stringify(name)}`)
  return entry.load()
}
