/**
 * The calls `/graph/…` and `/mind/search` (CX-053, CX-054): all concepts and links, those around one concept, and those near a text in
 * meaning. Graphs are drawn as lines of text or as a Mermaid diagram.
 */
import { z } from 'zod'
import { QuerentError } from '../../model/errors.ts'
import { MAX_TIMEOUT_MS } from '../../model/limits.ts'
import { brief, type Call, handler, type Look, linksOf, look, requireVisible } from './call.ts'
import { clamp, clamped, concept, id, question, total } from './envelope.ts'
import { type Edge, edgesFrom } from './mind/mind.ts'
import { CONCEPT_KIND } from './mind/rows.ts'
import { tally } from './names.ts'
import type { Concept } from './state.ts'
import { EDGES } from './tables.ts'

interface DrawnEdge {
  readonly source: number
  readonly target: number
  readonly relation: string
}

type DrawnNode = Pick<Concept, 'id' | 'name' | 'type'>

function drawAscii(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  if (nodes.length === 0) return '(empty graph)'
  const byId = new Map(nodes.map(node => [node.id, node]))
  return nodes
    .flatMap(node => {
      const ways = edges.filter(({ source }) => source === node.id)
      const lines = ways.map(({ relation, target }, at) => {
        const branch = at === ways.length - 1 ? '└──' : '├──'
        return `${branch} ${oneLine(relation)} → ${labelOf(byId.get(target))}`
      })
      return [labelOf(node), ...(lines.length === 0 ? ['└── (no outgoing edges)'] : lines)]
    })
    .join('\n')
}

function drawMermaid(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): string {
  return [
    'graph TD',
    ...nodes.map(({ id, name, type }) => `  ${id}["${escaped(`${name} (${type})`)}"]`),
    ...edges.map(({ source, target, relation }) => `  ${source} -->|${escaped(relation)}| ${target}`),
  ].join('\n')
}

function labelOf(node: DrawnNode | undefined): string {
  return node === undefined ? '' : `[${oneLine(node.name)}] ${oneLine(node.type)}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ')
}

/** Escapes a text for use in a Mermaid diagram, where character entities begin with `#`. */
function escaped(text: string): string {
  return oneLine(text).replace(/[#"|<>&`]/gu, sign => `#${sign.codePointAt(0)};`)
}

const search = handler({
  path: '/mind/search',
  summary: 'Find concepts by meaning',
  effect: 'read',
  needs: ['mind'],
  first: ['query', 'limit'],
  params: () =>
    z.object({
      query: question.describe('A text; concepts are ranked by how near they are to its meaning'),
      limit: clamped('Most matches', 10, 1, 1000),
    }),
  result: () =>
    z.strictObject({
      matches: z
        .array(concept.extend({ score: z.number().describe('Cosine with the text, -1 to 1, three decimals') }))
        .describe('Nearest first'),
    }),
  async run(call, { query, limit }) {
    const { matches, warnings } = await nearestConcepts(call, query, limit)
    return { result: { matches }, ...(warnings.length > 0 && { meta: { warnings } }) }
  },
})

/** The concepts nearest to a text by meaning alone; even those with a low cosine are returned. */
async function nearestConcepts(call: Call, text: string, limit: number) {
  const conditions = { lens: 'default', syntax: 'plain', mode: 'meaning', filter: { kinds: [CONCEPT_KIND] } } as const
  const ways = { any: true, memory: false, touch: false, approximate: false, timeout_ms: MAX_TIMEOUT_MS, limit }
  try {
    const { page, ranked } = await call.host.query({ text, ...conditions, ...ways }, { ...call, rows: 'keys' })
    const { concepts } = look(call)
    const matches = ranked.flatMap(({ entry, signals: { meaning = 0 } }) => {
      const concept = concepts.byEntry(entry)
      return concept === undefined ? [] : [{ ...brief(concept), score: Math.round(meaning * 1000) / 1000, meaning }]
    })
    return {
      matches: matches.sort((a, b) => b.meaning - a.meaning || a.id - b.id).map(({ meaning: _, ...match }) => match),
      warnings: page.notes.map(({ message }) => message),
    }
  } catch (error) {
    if (!(error instanceof QuerentError) || error.code !== 'embedder_failed') throw error
    return { matches: [], warnings: [`semantic search is unavailable: ${error.message}`] }
  }
}

const counts = z.record(z.string(), z.int())
const summary = handler({
  path: '/graph/summary',
  summary: 'Count concepts by type and links by relation',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({}),
  result: () =>
    z.strictObject({
      concepts: z
        .strictObject({
          total: total.describe('Number of concepts'),
          by_type: counts.describe('Their numbers by type'),
        })
        .describe('Concepts that the viewer sees'),
      edges: z
        .strictObject({
          total: total.describe('Number of links'),
          by_relation: counts.describe('Their numbers by relation'),
        })
        .describe('Links between these concepts'),
    }),
  run(call) {
    const seen = look(call)
    const edges = allEdges(call, seen)
    return {
      result: {
        concepts: { total: seen.concepts.all.length, by_type: tally(seen.concepts.all.map(({ type }) => type)) },
        edges: { total: edges.length, by_relation: tally(edges.map(({ relation }) => relation)) },
      },
    }
  },
})

const neighbour = z.lazy(() =>
  concept.extend({
    edge_id: z.int().describe('Number of the link'),
    relation: z.string().describe('Kind of the link, such as CALLS'),
    weight: z.number().min(0).describe('How strong it is, 0 or more'),
  }),
)

const neighbors = handler({
  path: '/graph/neighbors',
  summary: 'List what a concept links to, and what links to it',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ id: id.describe('Number of a concept, from 1') }),
  result: () =>
    z.strictObject({
      concept: concept.describe('The requested concept'),
      neighbors: z
        .strictObject({
          incoming: z.array(neighbour).describe('Concepts that link to it, by id'),
          outgoing: z.array(neighbour).describe('Concepts that it links to, by id'),
          total: total.describe('Links of both lists'),
        })
        .describe('One item per link'),
    }),
  run(call, { id }) {
    const { store } = call.host
    const seen = look(call)
    const found = requireVisible(seen, id)
    const describe = (edge: Edge, other: number) => {
      const { name, type } = requireVisible(seen, other)
      return { id: other, name, type, edge_id: edge.id, relation: edge.relation, weight: edge.weight }
    }
    const links = linksOf(call)
    const sources = new Set(links.in(id, { partitions: seen.accessScope.partitions }).map(({ node }) => node))
    const outgoing = edgesFrom(store, seen, [id]).map(edge => describe(edge, edge.target))
    const incoming = edgesFrom(store, seen, [...sources])
      .filter(({ target }) => target === id)
      .map(edge => describe(edge, edge.source))
    const byId = <T extends { id: number; edge_id: number }>(a: T, b: T) => a.id - b.id || a.edge_id - b.edge_id
    incoming.sort(byId)
    outgoing.sort(byId)
    const total = incoming.length + outgoing.length
    return { result: { concept: brief(found), neighbors: { incoming, outgoing, total } } }
  },
})

const FORMATS = ['ascii', 'mermaid'] as const
const NODES: Readonly<Record<(typeof FORMATS)[number], number>> = { ascii: 20, mermaid: 100 }

const viz = handler({
  path: '/graph/viz',
  summary: 'Draw concepts and their links as text or as Mermaid',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      format: z.enum(FORMATS).nullish().describe('ascii: lines of text; mermaid: a Mermaid graph. Default: ascii'),
      limit: z
        .number()
        .nullish()
        .describe('Most concepts, 1 to 1000; others are cut to that range. Default: 20 as ascii, 100 as mermaid'),
    }),
  result: () =>
    z.strictObject({
      format: z.enum(FORMATS).describe('Format of the drawing'),
      output: z.string().describe('The drawing'),
      nodes: total.describe('Concepts in it'),
      edges: total.describe('Links in it'),
      truncated: z.boolean().describe('Whether concepts are left out'),
      message: z.string().nullable().describe('How many of all concepts are shown, if some are left out'),
    }),
  run(call, { format: wantedFormat, limit: most }) {
    const format = wantedFormat ?? 'ascii'
    const limit = clamp(most ?? NODES[format], 1, 1000)
    const seen = look(call)
    const { all } = seen.concepts
    const nodes = all.slice(0, limit)
    const ids = new Set(nodes.map(({ id }) => id))
    const edges = edgesFrom(call.host.store, seen, [...ids]).filter(({ target }) => ids.has(target))
    const truncated = all.length > nodes.length
    const output = format === 'ascii' ? drawAscii(nodes, edges) : drawMermaid(nodes, edges)
    const message = truncated ? `showing ${nodes.length} of ${all.length} concepts` : null
    return { result: { format, output, nodes: nodes.length, edges: edges.length, truncated, message } }
  },
})

export const GRAPH_HANDLERS = [search, summary, neighbors, viz] as const

function allEdges({ host }: Call, { concepts }: Look): readonly { readonly relation: string }[] {
  const rows = host.store.table(EDGES).scan({}, { columns: ['id', 'source', 'target', 'relation'] })
  return rows
    .filter(row => concepts.byId(row['source'] as number) && concepts.byId(row['target'] as number))
    .map(row => ({ relation: row['relation'] as string }))
}
