/** `/context/query`: concepts for a question, their neighbours, their files, and how they hang together. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { LinkIndex } from '../../../index/contract.ts'
import type { Call, Handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { type Outcome, Refusal, refusal } from '../envelope.ts'
import { type Look, look } from '../mind/look.ts'
import { packAnswer } from '../packing.ts'
import { LINKS } from '../tables.ts'
import { type Anchor, merged, namedAnchors, wantsMeaning } from './anchors.ts'
import { choose } from './choose.ts'
import type { Evidence } from './evidence.ts'
import type { Graph, Neighbour } from './expand.ts'
import { meantConcepts } from './meaning.ts'
import { filePreviews } from './previews.ts'
import { relevantAnchors } from './relevance.ts'
import { type ContextRequest, RANKS, readRequest } from './request.ts'

export const QUERY_HANDLER: Handler = {
  path: '/context/query',
  summary: 'Find concepts of the code for a question, with their neighbours, files and links',
  effect: 'read',
  params: {
    query: { type: 'string', description: 'What to look for' },
    depth: { type: 'number', description: 'Steps along links, 0 to 2; default 1' },
    limit: { type: 'number', description: 'Concepts at most, 1 to 50; default 10' },
    mode: { enum: ['semantic', 'exact', 'hybrid'], description: 'By meaning, by name, or both' },
    rank: { enum: [...RANKS], description: 'How neighbours, and with relevance anchors, are ordered; default breadth' },
    snippet: { enum: ['head', 'passage'], description: 'Which part of a file is shown; default head' },
    explain: { type: 'boolean', description: 'Say how each score was made' },
    max_tokens: { type: 'number', description: 'Adds a bundle of texts that fits' },
  },
  async run(call, params) {
    const request = readRequest(params, call.host.store)
    try {
      return await answer(call, request)
    } catch (error) {
      if (error instanceof Refusal) throw error
      const cause = error instanceof Error ? error.message : String(error)
      throw refusal('query', 'query_error', `failed to query context: ${cause}`)
    }
  },
}

async function answer(call: Call, request: ContextRequest): Promise<Outcome> {
  const seen = look(call)
  const isRanked = request.rank === 'relevance' && request.mode !== 'semantic'
  const { anchors, warnings } = await (isRanked ? relevantAnchors : plainAnchors)(call, seen, request)
  const graph: Graph = {
    links: call.host.index(LINKS.name) as LinkIndex,
    scope: { partitions: seen.sight.partitions },
    concepts: seen.concepts,
  }
  const found = choose(graph, anchors, isFixed, request)
  const concepts = [...found.anchors, ...found.neighbours].map(({ concept }) => concept)
  const result: JsonObject = {
    concepts: [
      ...found.anchors.map(anchor => tellAnchor(anchor, request)),
      ...found.neighbours.map(neighbour => tellNeighbour(neighbour, request)),
    ],
    files: (await filePreviews(call, seen, concepts, request.snippet)).map(file => ({ ...file })) as JsonObject[],
    graph: { nodes: concepts.map(({ id }) => id), edges: edgesAmong(graph, concepts, request.explain) },
    ...(await bundleOf(call, seen, concepts, request)),
  }
  return { result, ...(warnings.length === 0 ? {} : { meta: { warnings } }) }
}

interface Anchors {
  /** Best first. */
  readonly anchors: readonly Anchor[]
  readonly warnings: readonly string[]
}

/** In the documented order: names first, then what is only meant. */
async function plainAnchors(call: Call, seen: Look, request: ContextRequest): Promise<Anchors> {
  const { mode, query, limit } = request
  const named = mode === 'semantic' ? [] : namedAnchors(seen.concepts, query, limit, mode !== 'exact')
  const { meant, warnings } = wantsMeaning(request)
    ? await meantConcepts(call, seen, query, limit, mode === 'hybrid')
    : { meant: [], warnings: [] }
  return { anchors: merged(named, meant), warnings }
}

/** Whether neighbours never displace it: names do not, and by relevance those that hold the whole question. */
function isFixed({ match, evidence }: Anchor): boolean {
  return match === 'whole' || match === 'name' || (match === 'words' && evidence === undefined)
}

function tellAnchor({ concept, match, cosine, evidence }: Anchor, { mode, explain }: ContextRequest): JsonObject {
  const isNamed = match !== 'meaning' && match !== 'text'
  const relevance = mode === null ? 'direct' : isNamed ? (cosine === null ? 'exact' : 'both') : 'semantic'
  const score = mode === null || cosine === null ? {} : { score: rounded(cosine) }
  const why = explain ? { hops: 0, via: null, match, score: cosine === null ? null : rounded(cosine) } : {}
  const parts = explain && evidence !== undefined ? { parts: partsOf(evidence) } : {}
  return { ...plain(concept, relevance), ...score, ...why, ...parts }
}

/** Rounded, so they may add up to a little more or less than the total. */
function partsOf(evidence: Evidence): JsonObject {
  return Object.fromEntries(Object.entries(evidence).map(([part, given]) => [part, rounded(given as number)]))
}

function tellNeighbour({ concept, hops, via, score }: Neighbour, { explain }: ContextRequest): JsonObject {
  const why = explain ? { hops, via: via.id, match: null, score: score === null ? null : rounded(score) } : {}
  return { ...plain(concept, 'neighbor'), ...why }
}

function plain({ id, name, type }: Concept, relevance: string): JsonObject {
  return { id, name, type, relevance }
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000
}

/** By source in the order of the answer, then target, then relation; equal triples once, the heaviest. */
function edgesAmong({ links, scope }: Graph, concepts: readonly Concept[], explain: boolean): readonly JsonObject[] {
  if (concepts.length < 2) return []
  const within = new Set(concepts.map(({ id }) => id))
  return concepts.flatMap(({ id: source }) => {
    const edges = new Map<string, JsonObject>()
    for (const { node: target, relation: number, weight } of links.out(source, scope)) {
      if (!within.has(target)) continue
      const relation = links.relationName(number)
      // Equal ones follow each other by weight, so the last is the heaviest.
      edges.set(JSON.stringify([target, relation]), { source, target, relation, ...(explain ? { weight } : {}) })
    }
    return [...edges.values()]
  })
}

async function bundleOf(
  call: Call,
  seen: Look,
  concepts: readonly Concept[],
  { maxTokens }: ContextRequest,
): Promise<JsonObject> {
  return maxTokens === null ? {} : { bundle: await packAnswer(call, seen, concepts, maxTokens) }
}
