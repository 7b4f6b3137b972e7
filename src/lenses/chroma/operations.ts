/**
 * Query operations of the lens `chroma`: one query, a batch of queries, the nearest nodes by colour alone, and the operations that every
 * lens has for its queries (such as explain, count and watch).
 */

import { z } from 'zod'
import { didYouMean } from '../../base/near-names.ts'
import type { CallContext } from '../../model/operation.ts'
import { parseWith } from '../../model/parse-input.ts'
import { costOfAsking } from '../../model/query-input.ts'
import { nearVisibleIds } from '../../pipeline/access.ts'
import { camelCased } from '../camel-name.ts'
import type { LensHost } from '../lens.ts'
import { type LensOperation, lensOperation, type NamedOperation } from '../lens-operation.ts'
import { queryOperations } from '../query-operations.ts'
import { Chroma } from './chroma.ts'
import { type Target, targetFields, vocabularyForm } from './colour/bindings.ts'
import { migration } from './colour/coordinates.ts'
import { invalidInput, isPlainObject, QueryError, retryingWrite } from './errors.ts'
import { decayReport, lifecycleReport, type RunOptions, runDecayCycle, runLifecycleCheck } from './memory/changes.ts'
import { binding, detailedAnswer, hashtagList, nodeRow, queryInput, ZONES, zone } from './model.ts'
import {
  changeNode,
  chooseTags,
  documentToImport,
  entryId,
  newNode,
  nodeChanges,
  nodeDocument,
  nodeUpdate,
  storeTagged,
} from './nodes/nodes.ts'
import { pointsOptions, pointsPage, statistics } from './nodes/points.ts'
import { knnOptions, questionInput, questionOf } from './query/question.ts'
import { ask, askMany } from './query/stages.ts'
import { secondsNow, stateOf } from './state.ts'

const query = chromaOperation({
  name: 'chroma.query',
  summary: 'Find nodes near the colour of hashtags (or of a text), ranked by relevance, recency and strength',
  input: queryInput,
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, item, call) => ask(stateOf(host), call, item),
})

const queries = z.strictObject({
  queries: z.array(queryInput).describe('Each as the input of chroma.query; if one is refused, none is answered'),
})

const batch = chromaOperation({
  name: 'chroma.batch_query',
  summary: 'Run several queries on one state of the store; if one is invalid, none runs',
  input: queries,
  output: z.lazy(() => z.strictObject({ answers: z.array(detailedAnswer).describe('In the order of the queries') })),
  effect: { kind: 'read', idempotent: false },
  // The engine does not check the input by the schema: the operation checks the items of the batch itself, in order, so that the first
  // wrong item is the one reported (CQ-101).
  checksInput: true,
  // Cost of a batch, charged at once for all items, because a batch is answered as a whole or not at all.
  cost: given =>
    Math.max(
      1,
      itemsOf(given).reduce<number>((sum, each) => sum + costOfQuery(each), 0),
    ),
  questions: itemsOf,
  async run(host, given, call) {
    const items = parseWith(queries.extend({ queries: z.array(z.unknown()) }), given, invalidInput).queries
    return { answers: await askMany(stateOf(host), call, items, item => parseWith(queryInput, item, invalidInput)) }
  },
})

const knn = chromaOperation({
  name: 'chroma.query_knn',
  summary: 'Find the nodes nearest to the colour of hashtags, without regard to memory',
  input: z.strictObject({ hashtags: hashtagList, ...knnOptions.shape }),
  output: detailedAnswer,
  effect: { kind: 'read', idempotent: false },
  cost: costOfQuery,
  run: (host, item, call) => ask(stateOf(host), call, item, 'distance'),
})

const [explain, count, watch] = queryOperations({
  name: 'chroma',
  input: questionInput,
  toQuery: (host, asked) => questionOf(stateOf(host), asked),
})

export const QUERY_OPERATIONS = [
  query,
  batch,
  knn,
  { ...explain, invalid: invalidInput },
  { ...count, invalid: invalidInput },
  { ...watch, invalid: invalidInput },
] as const

/**
 * Cost of one query, from its number of results `k`. A `k` that is not a number counts as 0 here, and is refused when the operation runs.
 */
function costOfQuery(asked: unknown): number {
  const k = isPlainObject(asked) ? asked['k'] : undefined
  return costOfAsking({ limit: Number.isSafeInteger(k) ? (k as number) : 0 })
}

function itemsOf(asked: unknown): readonly unknown[] {
  const items = isPlainObject(asked) ? asked['queries'] : undefined
  return Array.isArray(items) ? items : []
}

const node = z.strictObject({ entry_id: entryId })
const updated = z.strictObject({
  updated: z.boolean().describe('false: no field to change was given, or the viewer holds no such node'),
})

const store = chromaOperation({
  name: 'chroma.store',
  summary: 'Store a node at the colour of its hashtags',
  input: newNode,
  output: z.lazy(() =>
    z.strictObject({
      entry_id: z.string().describe('Id of the new node'),
      tags: chosenTags.optional().describe('With auto_tags: the hashtags, and why each was chosen'),
    }),
  ),
  effect: { kind: 'write', idempotent: false },
  run: (host, input, { viewer, signal }) => storeTagged(stateOf(host), viewer, camelCased(input), signal),
})

const get = chromaOperation({
  name: 'chroma.get',
  summary: 'Read one node; it does not count as use',
  input: node,
  output: nodeRow,
  effect: { kind: 'read', idempotent: true },
  async run(host, { entry_id }, { viewer }) {
    const found = await new Chroma(host, viewer).getNode(entry_id)
    if (found !== null) return found
    const traits = { kind: 'not_found', help: 'Check the entry_id with `querent chroma query`.' } as const
    const near = nearVisibleIds(host.store, entry_id, host.accessScope(viewer))
    const message = `entry_id: there is no node ${JSON.stringify(entry_id)}${didYouMean(near)}`
    throw new QueryError('not_found', message, near.length > 0 ? { near } : {}, undefined, traits)
  },
})

const update = chromaOperation({
  name: 'chroma.update',
  summary: 'Replace label, content or metadata of a node; its hashtags stay',
  input: nodeUpdate.extend({ entry_id: entryId }),
  output: updated,
  effect: { kind: 'write', idempotent: false },
  run: async (host, { entry_id, ...changes }, { viewer }) => ({
    updated: await new Chroma(host, viewer).updateNode(entry_id, changes),
  }),
})

const remove = chromaOperation({
  name: 'chroma.delete',
  summary: 'Delete a node for good',
  input: node,
  output: z.strictObject({ deleted: z.boolean().describe('false: the viewer holds no such node') }),
  effect: { kind: 'destroy', idempotent: true },
  run: async (host, { entry_id }, { viewer }) => ({ deleted: await new Chroma(host, viewer).deleteNode(entry_id) }),
})

const set = chromaOperation({
  name: 'chroma.set',
  summary: 'Change the texts, memory mode, decay, rot or plug-in columns of a node, all together or not at all',
  input: nodeChanges.extend({ entry_id: entryId }),
  output: updated,
  effect: { kind: 'write', idempotent: true },
  async run(host, { entry_id, ...changes }, { viewer }) {
    const state = stateOf(host)
    state.access.flush()
    return { updated: await retryingWrite(() => changeNode(state, viewer, entry_id, changes), state) }
  },
})

const exportAll = chromaOperation({
  name: 'chroma.export',
  summary: 'Export all nodes that you hold, with all their data, as one document',
  input: z.strictObject({}),
  output: nodeDocument,
  effect: { kind: 'read', idempotent: true },
  run: (host, _input, { viewer }) => new Chroma(host, viewer).exportNodes(),
})

const importAll = chromaOperation({
  name: 'chroma.import',
  summary: 'Import the nodes of an exported document, all or none',
  input: documentToImport,
  output: z.strictObject({ imported: z.int().min(0).describe('Nodes of the document') }),
  effect: { kind: 'write', idempotent: false },
  run: (host, document, { viewer }) => new Chroma(host, viewer).importNodes(document),
})

export const NODE_OPERATIONS = [store, get, update, remove, set, exportAll, importAll] as const

const hashtag = z.string().describe('1 to 100 characters, with or without #, in any letter case')
const assignment = z.strictObject({ hashtag, ...targetFields })

/** Input fields of `chroma.assign` that say what is to be assigned; exactly one must be given. */
const WAYS = ['hashtag', 'assignments', 'text', 'starter'] as const

const assign = chromaOperation({
  name: 'chroma.assign',
  summary: 'Assign hashtags to anchors, by zone or by anchor; assigned hashtags keep theirs',
  input: z
    .strictObject({
      hashtag: hashtag.optional().describe(`${hashtag.description}; or give assignments, text or starter`),
      ...targetFields,
      assignments: z
        .array(assignment)
        .optional()
        .describe('Many at once, all or none; instead of hashtag')
        .meta({ examples: [[{ hashtag: '#rust', zone: 'Mid' }]] }),
      text: z
        .string()
        .optional()
        .describe(
          'Many, all or none: a line each of hashtag and zone or anchor id, or a stack file; instead of hashtag',
        )
        .meta({ examples: ['#rust mid\n#typing 17'] }),
      starter: z
        .literal(true)
        .optional()
        .describe('The starter vocabulary, as far as its hashtags are free; instead of hashtag'),
    })
    .refine(input => WAYS.filter(way => input[way] !== undefined).length === 1, {
      path: ['hashtag'],
      error: `exactly one of ${WAYS.join(', ')}`,
    })
    .meta({ oneOf: WAYS.map(way => ({ required: [way] })), examples: [{ hashtag: '#rust', zone: 'Mid' }] }),
  output: z.lazy(() =>
    z.union([
      binding,
      z.strictObject({
        assigned: z.array(binding).describe('All hashtags of assignments or text; of starter the new ones only'),
      }),
    ]),
  ),
  effect: { kind: 'write', idempotent: true },
  async run(host, input, { viewer }) {
    const chroma = new Chroma(host, viewer)
    if (input.hashtag !== undefined) return chroma.assignHashtag(input.hashtag, targetOf(input))
    if (input.starter) return { assigned: await chroma.assignStarter() }
    const { text, assignments = [] } = input
    if (text !== undefined) return { assigned: await chroma.importVocabulary(text) }
    const list = assignments.map(each => ({ hashtag: each.hashtag, ...targetOf(each) }))
    return { assigned: await chroma.assignHashtags(list) }
  },
})

const unassign = chromaOperation({
  name: 'chroma.unassign',
  summary: 'Free the anchor of a hashtag that no node uses',
  input: z.strictObject({ hashtag }),
  output: binding,
  effect: { kind: 'destroy', idempotent: false, ownerOnly: true },
  run: (host, input, { viewer }) => new Chroma(host, viewer).unassignHashtag(input.hashtag),
})

const migrate = chromaOperation({
  name: 'chroma.migrate',
  summary: 'Move a hashtag to another anchor, and give each node with it its new colour',
  input: assignment,
  output: migration,
  effect: { kind: 'write', idempotent: true, ownerOnly: true },
  run: (host, input, { viewer }) => new Chroma(host, viewer).migrateHashtag(input.hashtag, targetOf(input)),
})

const hashtags = chromaOperation({
  name: 'chroma.hashtags',
  summary: 'List assigned hashtags with their anchors, in all zones or one, or export them for another store',
  input: z.strictObject({
    zone: zone.nullish().describe('Only hashtags of this zone, in any letter case. Default: all'),
    hashtag: hashtag.nullish().describe('Only this hashtag, if it is assigned. Default: all'),
    as: vocabularyForm.optional().describe('As a text: lines, or a stack file, for chroma.assign. Default: a list'),
  }),
  output: z.lazy(() =>
    z.strictObject({
      hashtags: z.array(binding).describe('By ascending anchor; none where a text is given'),
      text: z.string().optional().describe('With as: what chroma.assign takes as text'),
    }),
  ),
  effect: { kind: 'read', idempotent: true },
  async run(host, { zone, hashtag, as }, { viewer }) {
    const chroma = new Chroma(host, viewer)
    if (as !== undefined) return { hashtags: [], text: chroma.exportVocabulary(as) }
    const listed = chroma.listHashtags(zone ?? undefined)
    if (hashtag === undefined || hashtag === null) return { hashtags: listed }
    const found = chroma.resolveHashtag(hashtag)
    return { hashtags: listed.filter(each => each.hashtag === found?.hashtag) }
  },
})

const place = chromaOperation({
  name: 'chroma.place',
  summary: 'Compute the colour of a set of hashtags, in full precision',
  input: z.strictObject({ hashtags: hashtagList }),
  output: z.lazy(() =>
    z.strictObject({
      color_L: z.number().describe('Lightness, 0 to 100'),
      color_a: z.number().describe('Green to red, -128 to 127'),
      color_b: z.number().describe('Blue to yellow, -128 to 127'),
      node_id: z.string().describe('Name of the colour'),
      hashtags: z.array(z.string()).describe('Normalised (#lower-case) and distinct, by ascending anchor'),
    }),
  ),
  effect: { kind: 'read', idempotent: true },
  async run(host, input) {
    const { color, ...place } = stateOf(host).coordinates.place(input.hashtags)
    const [color_L, color_a, color_b] = color
    return { color_L, color_a, color_b, ...place }
  },
})

const chosenTags = z.array(
  z.strictObject({
    hashtag: z.string().describe('Normalised: #lower-case'),
    zone: z.enum(ZONES).describe('Zone of its anchor'),
    reason: z
      .enum(['named', 'meaning', 'words'])
      .describe('named: the text has it; meaning, words: of the vocabulary, the nearest to the text'),
    score: z.number().min(0).max(1).describe('Similarity to the text, 0 to 1; 1 for a hashtag that the text contains'),
  }),
)

const suggest = chromaOperation({
  name: 'chroma.suggest_hashtags',
  summary: 'Suggest assigned hashtags for a text, or a complete set of them; nothing is changed',
  input: z.strictObject({
    content: z.string().describe('A text, such as the content of a node to store'),
    complete: z
      .boolean()
      .optional()
      .describe('Add the assigned hashtags nearest in meaning until the set keeps the rules of zones. Default: false'),
  }),
  output: z.strictObject({
    hashtags: z.array(z.string()).describe('Normalised: those that the text names in order of appearance, then others'),
    tags: chosenTags.optional().describe('With complete: the same, and why each was chosen'),
  }),
  effect: { kind: 'read', idempotent: true },
  async run(host, { content, complete = false }, { viewer, signal }) {
    if (!complete) return { hashtags: new Chroma(host, viewer).suggestHashtags(content) }
    const tags = await chooseTags(stateOf(host), content, undefined, signal)
    return { hashtags: tags.map(({ hashtag }) => hashtag), tags }
  },
})

export const HASHTAG_OPERATIONS = [assign, unassign, migrate, hashtags, place, suggest] as const

function targetOf({
  zone,
  near,
  anchor_id,
}: {
  readonly zone?: string | undefined
  readonly near?: string | undefined
  readonly anchor_id?: number | undefined
}): Target {
  return { zone, near, anchorId: anchor_id }
}

const nothing = z.strictObject({})

const decay = chromaOperation({
  name: 'chroma.decay',
  summary: 'Apply the decay of unused nodes up to now',
  input: nothing,
  output: decayReport,
  effect: { kind: 'write', idempotent: true },
  run: (host, _input, call) => runDecayCycle(stateOf(host).memory, call.viewer.id, runOptions(host, call)),
})

const lifecycle = chromaOperation({
  name: 'chroma.lifecycle',
  summary: 'Mark strong nodes as ascended and forgotten ones as rotten',
  input: nothing,
  output: lifecycleReport,
  effect: { kind: 'write', idempotent: true },
  run: (host, _input, call) => runLifecycleCheck(stateOf(host).memory, call.viewer.id, runOptions(host, call)),
})

const counts = chromaOperation({
  name: 'chroma.statistics',
  summary: 'Count nodes by state and mode, with their strength and health',
  input: nothing,
  output: statistics,
  effect: { kind: 'read', idempotent: true },
  run: (host, _input, { viewer }) => new Chroma(host, viewer).getStatistics(),
})

const points = chromaOperation({
  name: 'chroma.points',
  summary: 'List nodes as points of the colour space, newest first, with a forecast of each if it is not used',
  input: pointsOptions,
  output: pointsPage,
  effect: { kind: 'read', idempotent: true },
  run: (host, options, { viewer }) => new Chroma(host, viewer).points(options),
})

export const MEMORY_OPERATIONS = [decay, lifecycle, counts, points] as const

function runOptions(host: LensHost, { signal, report }: CallContext): RunOptions {
  return { now: secondsNow(host), signal, ...(report && { report }) }
}

export const CHROMA_OPERATIONS = [
  ...QUERY_OPERATIONS,
  ...NODE_OPERATIONS,
  ...HASHTAG_OPERATIONS,
  ...MEMORY_OPERATIONS,
] as const

/**
 * Defines an operation whose errors are those of the lens `chroma` (CQ-001, CQ-006, CQ-105), also for input that does not match the schema.
 */
export function chromaOperation<const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(
  operation: LensOperation<Name, Input, Output>,
): NamedOperation<Name, Input, Output> {
  return { ...lensOperation(operation), invalid: invalidInput }
}
