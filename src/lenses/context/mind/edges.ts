/** `/mind/edges/…` (CX-051). An edge is seen by who sees both of its ends, and changed by who may change its source. */
import { z } from 'zod'
import { must } from '../../../base/assert.ts'
import { type Steps, Turns } from '../../../base/turns.ts'
import type { Row } from '../../../model/table.ts'
import { writeMany } from '../../../pipeline/write-many.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { type Call, handler, type Look, look, mustNotBeCancelled, mustOwn, mustSee } from '../call.ts'
import { type ErrorMap, errorAt, joined, Refusal, refusal } from '../envelope.ts'
import { deleted, id, text, total, weight } from '../schemas.ts'
import { EDGES } from '../tables.ts'
import { deleteEdge, putEdge } from './rows.ts'

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
const listed = z.lazy(() =>
  z.strictObject({ edges: z.array(edge).describe('One item a link'), total: total.describe('Their number') }),
)
const edgeId = id.describe('Number of a link, from 1')

/** Edges that start at these concepts, by id; of those seen. One read, however many concepts there are. */
export function edgesFrom(reader: StoreReader, { concepts }: Look, sources: readonly number[]): readonly Edge[] {
  const entries = sources.flatMap(id => concepts.byId(id)?.entry ?? [])
  return edgesIn(reader.table(EDGES).scan({}, { entries }), { concepts })
}

const create = handler({
  path: '/mind/edges/create',
  summary: 'Link two concepts',
  effect: 'write',
  needs: ['mind'],
  params: () => newEdge.unwrap(),
  result: () => edge,
  async run(call, draft) {
    const [result] = await createAll(call, [draft], () => [])
    return { result: must(result, 'the link') }
  },
})

const createMany = handler({
  path: '/mind/edges/create-many',
  summary: 'Link concepts, all of these or none',
  effect: 'write',
  needs: ['mind'],
  params: () => z.object({ edges: z.array(newEdge).describe('All of them are added, in this order, or none') }),
  result: () => listed,
  async run(call, { edges: drafts }) {
    const edges = await createAll(call, drafts, at => ['edges', String(at)])
    return { result: { edges, total: edges.length } }
  },
})

const get = handler({
  path: '/mind/edges/get',
  summary: 'Read a link',
  effect: 'read',
  needs: ['mind'],
  params: () => z.object({ id: edgeId }),
  result: () => edge,
  run: (call, { id }) => ({ result: mustSeeEdge(call.host.store, look(call), id) }),
})

const list = handler({
  path: '/mind/edges/list',
  summary: 'List links by id, of one source, target or relation if named',
  effect: 'read',
  needs: ['mind'],
  params: () =>
    z.object({
      source: id.nullish().describe('Only from the concept of this number. Default: from any'),
      target: id.nullish().describe('Only to the concept of this number. Default: to any'),
      relation: text.nullish().describe('Only of exactly this kind. Default: of any'),
    }),
  result: () => listed,
  run(call, wanted) {
    const where = Object.fromEntries(Object.entries(wanted).filter(([, value]) => (value ?? null) !== null)) as Row
    const edges = edgesIn(call.host.store.table(EDGES).scan(where), look(call))
    return { result: { edges, total: edges.length } }
  },
})

const update = handler({
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
    const { store, clock } = call.host
    const changed = await store.writeWhenFree(clock.now(), writer => {
      const seen = look(call)
      const before = mustSeeEdge(writer, seen, id)
      const source = mustOwn(call, seen, before.source)
      const changed = { ...before, relation: relation ?? before.relation, weight: weight ?? before.weight }
      putEdge(writer, { ...changed, source, target: mustSee(seen, before.target) }, id)
      return changed
    })
    return { result: changed }
  },
})

const remove = handler({
  path: '/mind/edges/delete',
  summary: 'Delete a link',
  effect: 'destroy',
  needs: ['mind'],
  params: () => z.object({ id: edgeId }),
  result: () => deleted,
  async run(call, { id }) {
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      const seen = look(call)
      const { source } = mustSeeEdge(writer, seen, id)
      deleteEdge(writer, id, mustOwn(call, seen, source).entry)
    })
    return { result: { id, deleted: true as const } }
  },
})

export const EDGE_HANDLERS = [create, createMany, get, list, update, remove] as const

async function createAll(
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
        const source = mustOwn(call, seen, draft.source, [...placeOf(at), 'source'])
        if (target !== undefined) made.push({ id: putEdge(writer, { ...draft, source, target }), ...draft })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        errors.push(error.errors)
      }
    }
    if (errors.length > 0) throw new Refusal(joined(errors))
    return made
  }
  return writeMany(store, clock.now(), drafts.length, put, new Turns(() => mustNotBeCancelled(call)))
}

function mustSeeEdge(reader: StoreReader, seen: Look, id: number): Edge {
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
