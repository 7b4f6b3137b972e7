/** `/graph/…` and `/mind/search` (CX-053, CX-054): what there is, around one concept, and near a text. */
import type { LinkIndex } from '../../../index/contract.ts'
import type { Call, Handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { type Edge, edgesFrom } from '../mind/edges.ts'
import { brief, type Look, look, mustSee } from '../mind/look.ts'
import { ParamReader } from '../params.ts'
import { mustBeInitialised } from '../parts.ts'
import { nearestConcepts } from '../query/meaning.ts'
import { readParams } from '../read-params.ts'
import { NUMBER, TEXT } from '../schemas.ts'
import { EDGES, LINKS } from '../tables.ts'
import { tally } from '../tally.ts'
import { drawAscii, drawMermaid } from './draw.ts'

const search: Handler = {
  path: '/mind/search',
  summary: 'Find concepts by meaning',
  effect: 'read',
  params: {
    query: { ...TEXT, description: 'What to look for' },
    limit: { ...NUMBER, description: 'How many at most' },
  },
  async run(call, params) {
    const reader = new ParamReader(params)
    const query = reader.question('query').trim()
    const limit = reader.clamped('limit', 10, 1, 1000)
    reader.done()
    mustBeInitialised(call.host.store, 'mind')
    const { meant, warnings } = await nearestConcepts(call, look(call), query, limit)
    const matches = meant.map(({ concept, cosine }) => ({ ...brief(concept), score: Math.round(cosine * 1000) / 1000 }))
    return { result: { matches }, ...(warnings.length === 0 ? {} : { meta: { warnings } }) }
  },
}

const summary: Handler = {
  path: '/graph/summary',
  summary: 'Count concepts by type and links by relation',
  effect: 'read',
  run(call) {
    mustBeInitialised(call.host.store, 'mind')
    const seen = look(call)
    const edges = allEdges(call, seen)
    return {
      result: {
        concepts: { total: seen.concepts.all.length, by_type: tally(seen.concepts.all.map(({ type }) => type)) },
        edges: { total: edges.length, by_relation: tally(edges.map(({ relation }) => relation)) },
      },
    }
  },
}

const neighbors: Handler = {
  path: '/graph/neighbors',
  summary: 'List what a concept links to, and what links to it',
  effect: 'read',
  params: { id: { ...NUMBER, description: 'Id of the concept' } },
  run(call, params) {
    const id = readParams(call, ['mind'], params, reader => reader.id('id'))
    const { store } = call.host
    const seen = look(call)
    const concept = mustSee(seen, id)
    const tell = (edge: Edge, other: number) => {
      const { name, type } = mustSee(seen, other)
      return { id: other, name, type, edge_id: edge.id, relation: edge.relation, weight: edge.weight }
    }
    const links = call.host.index(LINKS.name) as LinkIndex
    const sources = new Set(links.in(id, { partitions: seen.sight.partitions }).map(({ node }) => node))
    const outgoing = edgesFrom(store, seen, [id]).map(edge => tell(edge, edge.target))
    const incoming = edgesFrom(store, seen, [...sources])
      .filter(({ target }) => target === id)
      .map(edge => tell(edge, edge.source))
    const byId = <T extends { id: number; edge_id: number }>(a: T, b: T) => a.id - b.id || a.edge_id - b.edge_id
    incoming.sort(byId)
    outgoing.sort(byId)
    const total = incoming.length + outgoing.length
    return { result: { concept: brief(concept), neighbors: { incoming, outgoing, total } } }
  },
}

const FORMATS = ['ascii', 'mermaid'] as const
const NODES: Readonly<Record<(typeof FORMATS)[number], number>> = { ascii: 20, mermaid: 100 }

const viz: Handler = {
  path: '/graph/viz',
  summary: 'Draw concepts and their links as text or as Mermaid',
  effect: 'read',
  params: {
    format: { enum: ['ascii', 'mermaid'], description: 'As text or as Mermaid' },
    center: { ...NUMBER, description: 'Id of the concept in the middle' },
    limit: { ...NUMBER, description: 'How many concepts at most' },
  },
  run(call, params) {
    const { format, center, limit } = readParams(call, ['mind'], params, reader => {
      const format = reader.choice('format', FORMATS, 'ascii')
      return { format, center: reader.optionalId('center'), limit: reader.clamped('limit', NODES[format], 1, 1000) }
    })
    const { store } = call.host
    const seen = look(call)
    const wanted = center === null ? seen.concepts.all : around(call, seen, mustSee(seen, center, ['center']))
    const nodes = wanted.slice(0, limit)
    const ids = new Set(nodes.map(({ id }) => id))
    const edges = edgesFrom(store, seen, [...ids]).filter(({ target }) => ids.has(target))
    const truncated = wanted.length > nodes.length
    const output = format === 'ascii' ? drawAscii(nodes, edges) : drawMermaid(nodes, edges)
    const message = truncated ? `showing ${nodes.length} of ${wanted.length} concepts` : null
    return { result: { format, output, nodes: nodes.length, edges: edges.length, truncated, message } }
  },
}

export const GRAPH_HANDLERS: readonly Handler[] = [search, summary, neighbors, viz]

/** The concept, then those it links to or that link to it, by id. */
function around({ host }: Call, { sight, concepts }: Look, center: Concept): readonly Concept[] {
  const links = host.index(LINKS.name) as LinkIndex
  const ways = [...links.out(center.id, sight), ...links.in(center.id, sight)]
  const others = new Set(ways.map(({ node }) => node))
  others.delete(center.id)
  return [center, ...[...others].sort((a, b) => a - b).flatMap(id => concepts.byId(id) ?? [])]
}

function allEdges({ host }: Call, { concepts }: Look): readonly { readonly relation: string }[] {
  const rows = host.store.table(EDGES).scan({}, { columns: ['id', 'source', 'target', 'relation'] })
  return rows
    .filter(row => concepts.byId(row['source'] as number) && concepts.byId(row['target'] as number))
    .map(row => ({ relation: row['relation'] as string }))
}
