/** Querent by its library interface, whole questions; and its two legs alone, which is what libraries of one index are like. */
import { join } from 'node:path'
import type { Bitset } from '../../../src/base/bitset.ts'
import type { Embedder } from '../../../src/embed/embedder.ts'
import { modelKey } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import type { VectorIndex, WordIndex } from '../../../src/index/contract.ts'
import type { Filter } from '../../../src/model/filter.ts'
import type { FilterInput, QueryInput } from '../../../src/model/query-input.ts'
import { LOCAL_OWNER } from '../../../src/model/viewer.ts'
import { MEASURED, newItem, question, TUNING } from '../lib/data.ts'
import type { RowFilter } from '../lib/filters.ts'
import type { Item, Items } from '../lib/item.ts'
import type { OpenPeer, Peer } from '../lib/peer.ts'

const BATCH = 1000
const NAME = 'Querent'

export const peer: Peer = {
  name: NAME,
  version: () => 'this commit',
  holds: 'texts',
  settings:
    'Engine.query with its defaults, mode meaning, words or hybrid; given vectors in the place of a model. Time includes what the store may show to whom, the filter, fusion, ten entries with excerpts, and the durable count of their use; `any: true`, so that no answer is held back as irrelevant, and by meaning `memory: false`, so that use does not change the order that recall is measured by. No setting: recall is as it comes',
  durability: 'one transaction, survives a dying process; vector and words are findable when put() returns',
  build: async (folder, items) => {
    const engine = await openEngine({
      home: join(folder, 'home'),
      create: true,
      embedder: givenOf(items),
      background: false,
    })
    for (let from = 0; from < items.count; from += BATCH) {
      const entries = Array.from({ length: Math.min(BATCH, items.count - from) }, (_, i) => entryOf(items.of(from + i)))
      await engine.put({ entries, wait: true })
    }
    // Brings the indexes up to date, so that closing saves them.
    await engine.status()
    await engine.close()
  },
  open: async folder => {
    const engine = await opened(folder)
    const ask = async (input: QueryInput, limit: number) =>
      (await engine.query({ ...input, any: true, limit })).items.map(({ id }) => Number(id))
    return {
      nearest: ({ text }, k, filter) =>
        ask({ text, mode: 'meaning', memory: false, ...(filter && { filter: inputOf(filter) }) }, k),
      words: (text, k) => ask({ text, mode: 'words' }, k),
      hybrid: ({ text }, k) => ask({ text }, k),
      put: item => engine.put({ entries: [entryOf(item)], wait: true }),
      remove: row => engine.delete({ ids: [String(row)] }),
      close: () => engine.close(),
    }
  },
}

export const legs: Peer = {
  name: `${NAME}, its indexes alone`,
  version: () => 'this commit',
  holds: 'ids',
  sharesBuildOf: NAME,
  settings:
    'the vector index and the word index as the engine calls them, over the partitions of the owner; a filter is the set of entries it keeps, which the store finds once and the engine then keeps (asked for the first time: within the time). Ids are entry keys',
  durability: 'none: updates go through the engine',
  build: async () => {},
  open: async folder => legsOf(await opened(folder)),
}

function legsOf(engine: Engine): OpenPeer {
  const host = engine.host('default')
  const accessScope = host.accessScope(LOCAL_OWNER)
  const vectors = host.index(`vectors-${modelKey(MODEL)}`) as VectorIndex
  const words = host.index('words') as WordIndex
  const { partitions } = accessScope
  // Only the keys are turned into row numbers outside of what an index does: entries were put in the order of rows.
  const first = host.store.find('0', partitions)[0] as number
  const rowsOf = (hits: readonly { readonly entry: number }[]) => hits.map(({ entry }) => entry - first)
  const sets = new Map<string, Bitset>()
  const allowed = (filter: RowFilter): Bitset => {
    const name = JSON.stringify(filter)
    const set = sets.get(name) ?? host.store.matching(accessScope, treeOf(filter))
    sets.set(name, set)
    return set
  }
  return {
    nearest: ({ vector }, k, filter) =>
      rowsOf(vectors.search({ vector, k, partitions, approximate: true, ...(filter && { allow: allowed(filter) }) })),
    words: (text, k) => {
      const terms = text.split(' ').map(word => ({ text: word, boost: 1 }))
      return rowsOf(words.search({ terms, k, partitions }))
    },
    close: () => engine.close(),
  }
}

const MODEL = {
  ...{ id: 'given', hash: '0'.repeat(64), dimensions: 384, maxTokens: 4096, languages: [] },
  ...{ calibration: null, cosineScale: 0.13 / 0.17 },
} as const

const opened = (folder: string): Promise<Engine> =>
  openEngine({ home: join(folder, 'home'), embedder: givenOf(), background: false })

/** In a model's place: the vector that belongs to a text. */
function givenOf(items?: Items): Embedder {
  const known = new Map<string, Float32Array>()
  for (let row = 0; row < (items?.count ?? 0); row++) {
    const { text, vector } = (items as Items).of(row)
    known.set(text, vector)
  }
  for (let at = 0; at < TUNING + MEASURED; at++) known.set(question(at).text, question(at).vector)
  return {
    model: MODEL,
    // A passage comes below its title.
    embed: async texts => texts.map(text => known.get(text.slice(text.lastIndexOf('\n') + 1)) ?? vectorOfNew(text)),
    close: async () => {},
  }
}

/** Of the rows that are added while it is measured, and of the marks in them that are asked for. */
function vectorOfNew(text: string): Float32Array {
  const [, tens, ones, version] = text.match(/mark([a-j])([k-t])([yz])$/) ?? []
  if (tens === undefined || ones === undefined) throw new Error(`no vector was given for: ${text.slice(0, 80)}`)
  const at = tens.charCodeAt(0) - 97 + 10 * (ones.charCodeAt(0) - 107)
  return newItem(0, at, version === 'z' ? 1 : 0).vector
}

function entryOf({ row, text, fields }: Item) {
  // No title: the first line would be one, so that every word would stand there twice.
  return { id: String(row), title: '', content: text, metadata: { ...fields } }
}

function inputOf({ field, op, value }: RowFilter): FilterInput {
  return { metadata: { [field]: op === 'below' ? { lt: value } : value } }
}

function treeOf({ field, op, value }: RowFilter): Filter {
  return { op: op === 'below' ? 'lt' : 'eq', field: `metadata.${field}`, value }
}
