/**
 * The calls `/mind/init`, `/mind/concepts/…` (CX-047, CX-050, CX-055), `/mind/edges/…` (CX-051) and `/mind/provenance/…` (CX-052), which
 * create, read and delete concepts, links, and the record of which file a concept comes from.
 */
import { z } from 'zod'
import { must } from '../../../base/assert.ts'
import { compareText } from '../../../base/compare.ts'
import { type Steps, Turns } from '../../../base/turns.ts'
import { audience } from '../../../model/partition.ts'
import type { Row } from '../../../model/table.ts'
import { writeMany } from '../../../pipeline/many-rows.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import {
  assertNotCancelled,
  brief,
  type Call,
  embedNow,
  handler,
  type Look,
  look,
  requireOwn,
  requireVisible,
  transact,
} from '../call.ts'
import { initialise, isInitialised, storePath } from '../counters.ts'
import {
  concept as conceptShape,
  deleted,
  type ErrorMap,
  errorAt,
  fileUrl,
  flag,
  id,
  joined,
  Refusal,
  refusal,
  text,
  total,
  weight,
} from '../envelope.ts'
import { deleteByCall } from '../indexing/write-file.ts'
import type { Concept } from '../state.ts'
import { CONCEPTS, EDGES, PROVENANCE } from '../tables.ts'
import { type ConceptAt, type ConceptDraft, deleteEdge, putConcept, putEdge, putProvenance } from './rows.ts'

/** Version of the tables of the lens `context`. */
const SCHEMA_VERSION = '1.0.0'

const VISIBILITIES = ['private', 'public'] as const

const newConcept = z.lazy(() =>
  z.object({
    name: text.describe('What people call it, such as LoginService or retry policy'),
    type: text.describe('Type, such as Class, Function or Idea; Caveat for a note that is kept'),
    visibility: z.enum(VISIBILITIES).nullish().describe('Who may see it: you alone, or everybody. Default: private'),
  }),
)
type NewConcept = z.infer<typeof newConcept>

const init = handler({
  path: '/mind/init',
  summary: 'Create the tables of concepts and links; with force, empty them',
  effect: 'destroy',
  params: () => z.object({ force: flag.describe('Delete the existing concepts. Default: false') }),
  result: () =>
    z.strictObject({
      path: z.string().nullable().describe('The file of the store, for its owner; null for others'),
      created: z.boolean().describe('false: it existed already and was not changed'),
      schema_version: z.string().describe('Version of the tables'),
    }),
  async run(call, { force }) {
    const created = await transact(call, writer => {
      const wasThere = isInitialised(writer, 'mind')
      if (force && wasThere) {
        const seen = look(call)
        for (const { id } of seen.concepts.all) deleteByCall(writer, requireOwn(call, seen, id))
      }
      initialise(writer, 'mind', call.host.random)
      return force || !wasThere
    })
    return { result: { path: storePath(call), created, schema_version: SCHEMA_VERSION } }
  },
})

const listed = z.lazy(() =>
  z.strictObject({
    concepts: z.array(conceptShape).describe('One item per concept'),
    total: total.describe('Their number'),
  }),
)
const conceptId = id.describe('Number of a concept, from 1')

const create = handler({
  path: '/mind/concepts/create',
  summary: 'Add a concept',
  effect: 'write',
  needs: ['mind'],
  params: () => newConcept.unwrap(),
  result: () => conceptShape,
  run: async (call, draft) => ({ result: must((await createAll(call, [draft]))[0], 'the concept') }),
})

const createMany = handler({
  path: '/mind/concepts/create-many',
  summary: 'Add several concepts, all or none',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ concepts: z.array(newConcept).describe('All of them are added, in this order, or none') }),
  result: () => listed,
  run: async (call, { concepts: drafts }) => ({ result: listOf('concepts', await createAll(call, drafts)) }),
})

/** Makes the schema of a list of results together with its count. */
function listOf<Name extends string, T>(
  name: Name,
  all: readonly T[],
): { [K in Name]: readonly T[] } & { total: number } {
  return { [name]: all, total: all.length } as { [K in Name]: readonly T[] } & { total: number }
}

const get = handler({
  path: '/mind/concepts/get',
  summary: 'Read a concept',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ id: conceptId }),
  result: () => conceptShape,
  run: (call, { id }) => ({ result: brief(requireVisible(look(call), id)) }),
})

const list = handler({
  path: '/mind/concepts/list',
  summary: 'List concepts by id, optionally of one type',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ type: text.nullish().describe('Only concepts of exactly this type. Default: all') }),
  result: () => listed,
  run(call, { type = null }) {
    const concepts = look(call).concepts.all.filter(concept => type === null || concept.type === type)
    return { result: listOf('concepts', concepts.map(brief)) }
  },
})

const update = handler({
  path: '/mind/concepts/update',
  summary: 'Change the name or the type of a concept',
  effect: 'write',
  needs: ['mind'],
  params: () =>
    z.object({
      id: conceptId,
      name: text.nullish().describe('New name. Default: unchanged'),
      type: text.nullish().describe('New type. Default: unchanged'),
    }),
  result: () => conceptShape,
  async run(call, { id, name, type }) {
    const { key, result } = await transact(call, writer => {
      const concept = requireOwn(call, look(call), id)
      const of = writer.entry(concept.entry)?.audience ?? audience('private', call.viewer.id)
      const draft = { ...draftOf(writer, concept), ...(name && { name }), ...(type && { type }) }
      putConcept(writer, draft, { audience: of, now: call.host.clock.now(), before: concept })
      return { key: concept.entry, result: { id, name: draft.name, type: draft.type } }
    })
    await embedNow(call, [key])
    return { result }
  },
})

const remove = handler({
  path: '/mind/concepts/delete',
  summary: 'Delete a concept with its links and its provenance',
  effect: 'destroy',
  needs: ['mind'],
  params: () => z.object({ id: conceptId }),
  result: () => deleted,
  async run(call, { id }) {
    await transact(call, writer => deleteByCall(writer, requireOwn(call, look(call), id)))
    return { result: { id, deleted: true as const } }
  },
})

export const CONCEPT_HANDLERS = [init, create, createMany, get, list, update, remove] as const

/** Makes from a stored concept the draft that would write it again unchanged. */
function draftOf(reader: StoreReader, { entry, name, type, url, startLine, endLine }: Concept): ConceptDraft {
  const row = reader.table(CONCEPTS).get({ entry })
  const text = (column: string) => (row?.[column] as string | null | undefined) ?? null
  const [signature, doc, symbol] = [text('signature'), text('doc'), text('symbol')]
  return { name, type, url, startLine, endLine, signature, doc, symbol }
}

async function createAll(
  call: Call,
  drafts: readonly NewConcept[],
): Promise<readonly { id: number; name: string; type: string }[]> {
  const { store, clock } = call.host
  const now = clock.now()
  const put = function* (writer: StoreWriter): Steps<readonly ConceptAt[]> {
    const made: ConceptAt[] = []
    for (const { name, type, visibility } of drafts) {
      made.push(
        putConcept(writer, { name, type }, { audience: audience(visibility ?? 'private', call.viewer.id), now }),
      )
      yield
    }
    return made
  }
  const made = await writeMany(store, now, drafts.length, put, new Turns(() => assertNotCancelled(call)))
  await embedNow(
    call,
    made.map(({ entry }) => entry),
  )
  return drafts.map(({ name, type }, at) => ({ id: made[at]?.id ?? 0, name, type }))
}

// Calls for links (edges) between concepts (CX-051). A viewer who sees both concepts sees the link; a viewer who may change the source
// concept may change the link.

const edge = z.lazy(() =>
  z.strictObject({
    id: id.describe('Number of the link'),
    source: id.describe('Number of the concept it starts at'),
    target: id.describe('Number of the concept it leads to'),
    relation: z.string().describe('Its kind, such as CALLS or PART_OF'),
    weight: z.number().min(0).describe('How strong it is, 0 or more'),
  }),
)
export type Edge = Readonly<z.infer<typeof edge>>

const newEdge = z.lazy(() =>
  z.object({
    source: id.describe('Number of the concept it starts at, from 1; one of your own'),
    target: id.describe('Number of the concept it leads to, from 1'),
    relation: text.describe('Its kind, a word such as CALLS or PART_OF'),
    weight: weight.transform(value => value ?? 1).describe('How strong it is, 0 or more. Default: 1'),
  }),
)
const listedEdges = z.lazy(() =>
  z.strictObject({ edges: z.array(edge).describe('One item per link'), total: total.describe('Their number') }),
)
const edgeId = id.describe('Number of a link, from 1')

/**
 * The links that the viewer sees and that start at the given concepts, by ascending id. It takes one read of the store, however many
 * concepts are given.
 */
export function edgesFrom(reader: StoreReader, { concepts }: Look, sources: readonly number[]): readonly Edge[] {
  const entries = sources.flatMap(id => concepts.byId(id)?.entry ?? [])
  return edgesIn(reader.table(EDGES).scan({}, { entries }), { concepts })
}

const createEdge = handler({
  path: '/mind/edges/create',
  summary: 'Link two concepts',
  effect: 'write',
  needs: ['mind'],
  params: () => newEdge.unwrap(),
  result: () => edge,
  run: async (call, draft) => ({ result: must((await createAllEdges(call, [draft], () => []))[0], 'the link') }),
})

const createEdges = handler({
  path: '/mind/edges/create-many',
  summary: 'Add several links, all or none',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ edges: z.array(newEdge).describe('All of them are added, in this order, or none') }),
  result: () => listedEdges,
  run: async (call, { edges: drafts }) => {
    return { result: listOf('edges', await createAllEdges(call, drafts, at => ['edges', String(at)])) }
  },
})

const getEdge = handler({
  path: '/mind/edges/get',
  summary: 'Read a link',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ id: edgeId }),
  result: () => edge,
  run: (call, { id }) => ({ result: requireEdge(call.host.store, look(call), id) }),
})

const listEdges = handler({
  path: '/mind/edges/list',
  summary: 'List links by id, optionally of one source, target or relation',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      source: id.nullish().describe('Only from the concept of this number. Default: from any'),
      target: id.nullish().describe('Only to the concept of this number. Default: to any'),
      relation: text.nullish().describe('Only of exactly this kind. Default: of any'),
    }),
  result: () => listedEdges,
  run(call, wanted) {
    const where = Object.fromEntries(Object.entries(wanted).filter(([, value]) => (value ?? null) !== null)) as Row
    return { result: listOf('edges', edgesIn(call.host.store.table(EDGES).scan(where), look(call))) }
  },
})

const updateEdge = handler({
  path: '/mind/edges/update',
  summary: 'Change the relation or the weight of a link',
  effect: 'write',
  needs: ['mind'],
  params: () =>
    z.object({
      id: edgeId,
      relation: text.nullish().describe('Its kind from now on. Default: unchanged'),
      weight: weight.describe('How strong it is from now on, 0 or more. Default: unchanged'),
    }),
  result: () => edge,
  async run(call, { id, relation, weight }) {
    const changed = await transact(call, writer => {
      const seen = look(call)
      const before = requireEdge(writer, seen, id)
      const source = requireOwn(call, seen, before.source)
      const changed = { ...before, relation: relation ?? before.relation, weight: weight ?? before.weight }
      putEdge(writer, { ...changed, source, target: requireVisible(seen, before.target) }, id)
      return changed
    })
    return { result: changed }
  },
})

const removeEdge = handler({
  path: '/mind/edges/delete',
  summary: 'Delete a link',
  effect: 'destroy',
  needs: ['mind'],
  params: () => z.object({ id: edgeId }),
  result: () => deleted,
  async run(call, { id }) {
    await transact(call, writer => {
      const seen = look(call)
      const { source } = requireEdge(writer, seen, id)
      deleteEdge(writer, id, requireOwn(call, seen, source).entry)
    })
    return { result: { id, deleted: true as const } }
  },
})

export const EDGE_HANDLERS = [createEdge, createEdges, getEdge, listEdges, updateEdge, removeEdge] as const

async function createAllEdges(
  call: Call,
  drafts: readonly Omit<Edge, 'id'>[],
  placeOf: (at: number) => readonly string[],
): Promise<readonly Edge[]> {
  const { store, clock } = call.host
  const put = function* (writer: StoreWriter): Steps<readonly Edge[]> {
    const seen = look(call)
    const errors: ErrorMap[] = []
    const made: Edge[] = []
    for (const [at, draft] of drafts.entries()) {
      yield
      const target = seen.concepts.byId(draft.target)
      if (target === undefined) errors.push(errorAt([...placeOf(at), 'target'], 'not_found', 'concept not found'))
      try {
        const source = requireOwn(call, seen, draft.source, [...placeOf(at), 'source'])
        if (target !== undefined) made.push({ id: putEdge(writer, { ...draft, source, target }), ...draft })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        errors.push(error.errors)
      }
    }
    if (errors.length > 0) throw new Refusal(joined(errors))
    return made
  }
  return writeMany(store, clock.now(), drafts.length, put, new Turns(() => assertNotCancelled(call)))
}

function requireEdge(reader: StoreReader, seen: Look, id: number): Edge {
  const row = reader.table(EDGES).get({ id })
  const [edge] = row === undefined ? [] : edgesIn([row], seen)
  if (edge === undefined) throw refusal('id', 'not_found', 'edge not found')
  return edge
}

function edgesIn(rows: readonly Row[], { concepts }: Pick<Look, 'concepts'>): readonly Edge[] {
  return rows
    .map(row => ({
      id: row['id'] as number,
      source: row['source'] as number,
      target: row['target'] as number,
      relation: row['relation'] as string,
      weight: row['weight'] as number,
    }))
    .filter(({ source, target }) => concepts.byId(source) !== undefined && concepts.byId(target) !== undefined)
}

const link = z.lazy(() =>
  z.strictObject({
    concept_id: id.describe('Number of the concept'),
    file_url: z.string().describe('URL of the file it comes from'),
  }),
)

const createLink = handler({
  path: '/mind/provenance/create',
  summary: 'Record that a concept comes from a file',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ concept_id: conceptId, file_url: fileUrl }),
  result: () => link,
  async run(call, { concept_id: concept, file_url: url }) {
    await transact(call, writer => {
      putProvenance(writer, requireOwn(call, look(call), concept, ['concept_id']), url)
    })
    return { result: { concept_id: concept, file_url: url } }
  },
})

const listLinks = handler({
  path: '/mind/provenance/list',
  summary: 'List the files of concepts, optionally of one concept or file',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      concept_id: id.nullish().describe('Only of the concept of this number. Default: of all'),
      file_url: text.nullish().describe('Only to the file of exactly this URL. Default: to all'),
    }),
  result: () =>
    z.strictObject({ links: z.array(link).describe('By concept, then URL'), total: total.describe('Their number') }),
  run(call, { concept_id: concept, file_url: url }) {
    const where = { ...(concept ? { concept } : {}), ...(url ? { url } : {}) }
    return { result: listOf('links', seenLinks(call.host.store.table(PROVENANCE).scan(where), look(call))) }
  },
})

const removeLinks = handler({
  path: '/mind/provenance/delete',
  summary:
    'Remove the record that a concept comes from a file, or those of all concepts of a file (without concept_id)',
  effect: 'destroy',
  needs: ['mind'],
  params: () =>
    z.object({
      concept_id: id.nullish().describe('Only the concept of this number. Default: all concepts of the file'),
      file_url: fileUrl,
    }),
  result: () => z.strictObject({ deleted: total.describe('Links that were deleted') }),
  async run(call, { concept_id, file_url: url }) {
    const concept = concept_id ?? null
    const deleted = await transact(call, writer => {
      const seen = look(call)
      const table = writer.table(PROVENANCE)
      const ids =
        concept === null ? seenLinks(table.scan({ url }), seen).map(({ concept_id }) => concept_id) : [concept]
      return ids.reduce((sum, id) => {
        const { entry } = requireOwn(call, seen, id, ['concept_id'])
        return sum + table.delete({ entry, url })
      }, 0)
    })
    return { result: { deleted } }
  },
})

export const PROVENANCE_HANDLERS = [createLink, listLinks, removeLinks] as const

/** Which concept comes from which file, for the concepts that the viewer sees; ordered by concept, then URL. */
function seenLinks(rows: readonly Row[], { concepts }: Look): { concept_id: number; file_url: string }[] {
  return rows
    .map(row => ({ concept_id: row['concept'] as number, file_url: row['url'] as string }))
    .filter(({ concept_id }) => concepts.byId(concept_id) !== undefined)
    .sort((a, b) => a.concept_id - b.concept_id || compareText(a.file_url, b.file_url))
}
