/** The call `/context/query`: finds concepts for a query, their neighbours, the files they are in, and the links between them. */
import { z } from 'zod'
import type { ReadonlyDeep } from '../../../base/readonly-deep.ts'
import type { LinkIndex } from '../../../index/contract.ts'
import type { Ranked } from '../../../model/candidate.ts'
import type { ShownParts } from '../../../pipeline/stage.ts'
import { assertNotCancelled, type Call, handler, linksOf, look, readErrorNotes } from '../call.ts'
import { conceptRef, id, type Outcome, Refusal, refusal, total } from '../envelope.ts'
import type { Concept } from '../state.ts'
import { isNamed } from './anchors.ts'
import { bundle, conceptsByUrl, contentsOf, filePreview, filePreviews, packAnswer } from './pack.ts'
import {
  type ContextRequest,
  contextRequest,
  isByRelevance,
  MATCHES,
  type Match,
  queryOf,
  requireMeaning,
} from './request.ts'

/** Schema of the amount that each kind of evidence adds to a concept's relevance; the parts add up to `total`. */
const evidence = z.lazy(() =>
  z.strictObject({
    total: z.number().min(0).describe('Sum of the parts; rounded parts may add up to a little more or less'),
    name: z.number().min(0).max(1).describe('Words of the query in its name'),
    path: z.number().min(0).max(1).describe('Words of the query in the path of its file'),
    doc: z.number().min(0).max(1).describe('Words of the query in its doc comment'),
    text: z.number().min(0).max(1).describe('Words of the query in its code'),
    passage: z.number().min(0).max(1).describe('Words of the query in one passage of its file'),
    meaning: z.number().min(0).max(1).describe('Nearness of its vector to that of the query'),
  }),
)
const found = z.lazy(() =>
  z.strictObject({
    ...conceptRef,
    relevance: z
      .enum(['direct', 'exact', 'semantic', 'both', 'neighbor'])
      .describe(
        'How it was found. exact, semantic, both: by name, by meaning, by both; direct: by name, without a mode; neighbor: over a link',
      ),
    score: z
      .number()
      .nullable()
      .optional()
      .describe(
        'Cosine with the query, or with explain the score of a neighbour. Rank relevance orders by more: see parts',
      ),
    hops: total.optional().describe('With explain: number of links from a match; 0: it is a match'),
    via: id.nullable().optional().describe('With explain: number of the concept it was reached from; null: none'),
    match: z
      .enum(MATCHES)
      .nullable()
      .optional()
      .describe('With explain: field that the query matched first; null for a neighbour'),
    parts: evidence.optional().describe('With explain and rank relevance: what each part adds to its relevance'),
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
    concepts: z.array(found).describe('Matches, best first, then neighbours'),
    files: z.array(filePreview).describe('Files of these concepts, in the order of the concepts'),
    graph: z
      .strictObject({
        nodes: z.array(id).describe('Numbers of the concepts, in their order'),
        edges: z.array(edge).describe('Links between them'),
      })
      .describe('How the concepts are linked'),
    bundle: bundle.optional().describe('With max_tokens: texts of the concepts'),
  }),
)
type Answer = ReadonlyDeep<z.infer<typeof answerShape>>
type Found = Answer['concepts'][number]

export const QUERY_HANDLER = handler({
  path: '/context/query',
  summary: 'Find concepts of the code for a query, with their neighbours, files and links',
  effect: 'read',
  needs: ['body', 'mind'],
  // A missing or empty query is reported before any other error (CX-013).
  first: ['query'],
  params: () => contextRequest.unwrap(),
  result: () => answerShape,
  async run(call, request) {
    requireMeaning(request)
    try {
      return await answer(call, request)
    } catch (error) {
      if (error instanceof Refusal) throw error
      assertNotCancelled(call)
      const cause = error instanceof Error ? error.message : String(error)
      throw refusal('query', 'query_error', `failed to query context: ${cause}`)
    }
  },
})

/** Runs the query in the engine and puts its page into the form that this call returns. */
async function answer(call: Call, request: ContextRequest): Promise<Outcome<Answer>> {
  const { page, ranked, shown } = await call.host.query(queryOf(request), { ...call, rows: 'keys' })
  const seen = look(call)
  const rows = ranked.flatMap((one): Row[] => {
    const concept = seen.concepts.byEntry(one.entry)
    return concept === undefined ? [] : [{ concept, ranked: one }]
  })
  const concepts = rows.map(({ concept }) => concept)
  const links = linksOf(call)
  const byUrl = conceptsByUrl(call, concepts)
  const urls = new Set([
    ...byUrl.keys(),
    ...(request.max_tokens !== null ? concepts.flatMap(({ url }) => url ?? []) : []),
  ])
  const contents = await contentsOf(call, seen, [...urls])
  const result = {
    concepts: rows.map(row => foundOf(row, shown, request)),
    files: filePreviews(byUrl, contents, request.snippet),
    graph: {
      nodes: concepts.map(({ id }) => id),
      edges: edgesAmong(links, seen.accessScope.partitions, concepts, request.explain),
    },
    ...(request.max_tokens !== null && { bundle: packAnswer(call, concepts, contents, request.max_tokens) }),
  }
  const warnings = [...page.notes.map(({ message }) => message), ...readErrorNotes(call, seen, concepts)]
  const isJudged = request.rank === 'relevance' || request.explain
  const meta = {
    ...(warnings.length > 0 && { warnings }),
    ...(isJudged && { verdict: page.verdict, ...(page.reason !== null && { reason: page.reason }) }),
  }
  return { result, meta }
}

interface Row {
  readonly concept: Concept
  readonly ranked: Ranked
}

function foundOf({ concept, ranked }: Row, shown: ShownParts, { mode, rank, explain }: ContextRequest): Found {
  const { id, name, type } = concept
  const { signals } = ranked
  const { hops, via, link, near, meaning } = signals
  if (hops !== undefined) {
    const why = explain ? { hops, via: via ?? null, match: null, score: link === undefined ? null : rounded(link) } : {}
    return { id, name, type, relevance: 'neighbor', ...why }
  }
  const match = MATCHES[signals['match'] ?? 0] as Match
  const score = near === undefined || meaning === undefined ? null : rounded(meaning)
  const byName = score === null ? 'exact' : 'both'
  const relevance = mode === null ? 'direct' : isNamed(match) ? byName : 'semantic'
  const isShown = explain || (mode !== null && score !== null)
  const isExplained = explain && isByRelevance({ rank, mode: mode ?? 'names' })
  const parts = isExplained ? { parts: partsOf(ranked.score, shown.components(ranked)) } : {}
  return {
    ...{ id, name, type, relevance },
    ...(isShown && { score }),
    ...(explain && { hops: 0, via: null, match }),
    ...parts,
  }
}

/** The parts of a score as an object. Each is rounded, so their sum may differ slightly from the total. */
function partsOf(score: number, components: Readonly<Record<string, number>>): NonNullable<Found['parts']> {
  const part = (name: string) => rounded(components[name] ?? 0)
  return {
    ...{ total: rounded(score), name: part('name'), path: part('path'), doc: part('doc') },
    ...{ text: part('text'), passage: part('passage'), meaning: part('meaning') },
  }
}

function rounded(score: number): number {
  return Math.round(score * 1000) / 1000
}

/**
 * The links between concepts of an answer, ordered by their source's place in the answer, then target, then relation. Of several links with
 * equal source, target and relation, only the one with the highest weight is given.
 */
function edgesAmong(
  links: LinkIndex,
  partitions: readonly number[],
  concepts: readonly Concept[],
  explain: boolean,
): Answer['graph']['edges'] {
  if (concepts.length < 2) return []
  const within = new Set(concepts.map(({ id }) => id))
  return concepts.flatMap(({ id: source }) => {
    const edges = new Map<string, z.infer<typeof edge>>()
    for (const { node: target, relation: number, weight } of links.out(source, { partitions })) {
      if (!within.has(target)) continue
      const relation = links.relationName(number)
      // Links with equal source, target and relation come in ascending order of weight. Each overwrites the one before in the map, so the
      // heaviest remains.
      edges.set(JSON.stringify([target, relation]), { source, target, relation, ...(explain ? { weight } : {}) })
    }
    return [...edges.values()]
  })
}
