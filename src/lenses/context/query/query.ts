/** `/context/query`: concepts for a question, their neighbours, their files, and how they hang together. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { LinkIndex } from '../../../index/contract.ts'
import { type Call, handler } from '../call.ts'
import type { Concept } from '../concepts.ts'
import { type Outcome, Refusal, refusal } from '../envelope.ts'
import { type Look, look } from '../mind/look.ts'
import { bundle } from '../pack.ts'
import { packAnswer } from '../packing.ts'
import { noted, readErrorNotes } from '../read-notes.ts'
import { conceptRef, id, total } from '../schemas.ts'
import { LINKS } from '../tables.ts'
import { type Anchor, merged, namedAnchors, wantsMeaning } from './anchors.ts'
import { choose } from './choose.ts'
import { type Evidence, evidence } from './evidence.ts'
import type { Graph, Neighbour } from './expand.ts'
import { meantConcepts } from './meaning.ts'
import { filePreview, filePreviews } from './previews.ts'
import { relevantAnchors } from './relevance.ts'
import { type ContextRequest, contextRequest, requireMeaning } from './request.ts'

const found = z.lazy(() =>
  z.strictObject({
    ...conceptRef,
    relevance: z
      .enum(['direct', 'exact', 'semantic', 'both', 'neighbor'])
      .describe(
        'How it came in. exact, semantic, both: by name, by meaning, by both; direct: by name, without a mode; neighbor: over a link',
      ),
    score: z.number().nullable().optional().describe('Cosine with the query, or with explain the score of a neighbour'),
    hops: total.optional().describe('With explain: links from what was found; 0: it was found itself'),
    via: id.nullable().optional().describe('With explain: number of the concept it was reached from; null: none'),
    match: z
      .enum(['whole', 'name', 'words', 'meaning', 'text'])
      .nullable()
      .optional()
      .describe('With explain: what of it the query matched first; null for a neighbour'),
    parts: evidence.optional().describe('With explain and rank relevance: what each part gives to its relevance'),
  }),
)
const edge = z.lazy(() =>
  z.strictObject({
    source: id.describe('Number of the concept it starts at'),
    target: id.describe('Number of the concept it leads to'),
    relation: z.string().describe('Its kind, such as CALLS'),
    weight: z.number().min(0).optional().describe('With explain: how strong it is'),
  }),
)
const answerShape = z.lazy(() =>
  z.strictObject({
    concepts: z.array(found).describe('What was found, best first, then neighbours'),
    files: z.array(filePreview).describe('Files of these concepts, in the order in which they name them'),
    graph: z
      .strictObject({
        nodes: z.array(id).describe('Numbers of the concepts, in their order'),
        edges: z.array(edge).describe('Links between them'),
      })
      .describe('How the concepts hang together'),
    bundle: bundle.optional().describe('With max_tokens: texts of the concepts'),
  }),
)
type Answer = z.infer<typeof answerShape>

export const QUERY_HANDLER = handler({
  path: '/context/query',
  summary: 'Find concepts of the code for a question, with their neighbours, files and links',
  effect: 'read',
  needs: ['body', 'mind'],
  // A question that says nothing is reported before anything else (CX-013).
  first: ['query'],
  params: () => contextRequest.unwrap(),
  result: () => answerShape,
  async run(call, request) {
    requireMeaning(request)
    try {
      return await answer(call, request)
    } catch (error) {
      if (error instanceof Refusal) throw error
      const cause = error instanceof Error ? error.message : String(error)
      throw refusal('query', 'query_error', `failed to query context: ${cause}`)
    }
  },
})

async function answer(call: Call, request: ContextRequest): Promise<Outcome<ReadonlyDeep<Answer>>> {
  const seen = look(call)
  const isRanked = request.rank === 'relevance' && request.mode !== 'semantic'
  const { anchors, warnings } = await (isRanked ? relevantAnchors : plainAnchors)(call, seen, request)
  const graph: Graph = {
    links: call.host.index(LINKS.name) as LinkIndex,
    scope: { partitions: seen.sight.partitions },
    concepts: seen.concepts,
  }
  const chosen = choose(graph, anchors, isFixed, request)
  const concepts = [...chosen.anchors, ...chosen.neighbours].map(({ concept }) => concept)
  const result = {
    concepts: [
      ...chosen.anchors.map(anchor => tellAnchor(anchor, request)),
      ...chosen.neighbours.map(neighbour => tellNeighbour(neighbour, request)),
    ],
    files: await filePreviews(call, seen, concepts, request.snippet),
    graph: { nodes: concepts.map(({ id }) => id), edges: edgesAmong(graph, concepts, request.explain) },
    ...(await bundleOf(call, seen, concepts, request)),
  }
  const notes = readErrorNotes(
    call,
    seen,
    concepts.map(({ url }) => url),
  )
  return { result, ...noted(warnings, notes) }
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

function tellAnchor({ concept, match, cosine, evidence }: Anchor, { mode, explain }: ContextRequest): Found {
  const isNamed = match !== 'meaning' && match !== 'text'
  const relevance = mode === null ? 'direct' : isNamed ? (cosine === null ? 'exact' : 'both') : 'semantic'
  const score = mode === null || cosine === null ? {} : { score: rounded(cosine) }
  const why = explain ? { hops: 0, via: null, match, score: cosine === null ? null : rounded(cosine) } : {}
  const parts = explain && evidence !== undefined ? { parts: partsOf(evidence) } : {}
  return { ...plain(concept, relevance), ...score, ...why, ...parts }
}

/** Rounded, so they may add up to a little more or less than the total. */
function partsOf(given: Evidence): Evidence {
  return Object.fromEntries(Object.entries(given).map(([part, share]) => [part, rounded(share)])) as Evidence
}

function tellNeighbour({ concept, hops, via, score }: Neighbour, { explain }: ContextRequest): Found {
  const why = explain ? { hops, via: via.id, match: null, score: score === null ? null : rounded(score) } : {}
  return { ...plain(concept, 'neighbor'), ...why }
}

type Found = Answer['concepts'][number]

function plain({ id, name, type }: Concept, relevance: Found['relevance']): Found {
  return { id, name, type, relevance }
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000
}

/** By source in the order of the answer, then target, then relation; equal triples once, the heaviest. */
function edgesAmong({ links, scope }: Graph, concepts: readonly Concept[], explain: boolean): Answer['graph']['edges'] {
  if (concepts.length < 2) return []
  const within = new Set(concepts.map(({ id }) => id))
  return concepts.flatMap(({ id: source }) => {
    const edges = new Map<string, z.infer<typeof edge>>()
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
  { max_tokens }: ContextRequest,
): Promise<Pick<ReadonlyDeep<Answer>, 'bundle'>> {
  return max_tokens === null ? {} : { bundle: await packAnswer(call, seen, concepts, max_tokens) }
}
