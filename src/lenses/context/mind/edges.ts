/** `/mind/edges/…` (CX-051). An edge is seen by who sees both of its ends, and changed by who may change its source. */
import type { Row } from '../../../model/table.ts'
import type { StoreReader } from '../../../store/store.ts'
import type { Call, Handler } from '../call.ts'
import { type ErrorMap, errorAt, joined, Refusal, refusal } from '../envelope.ts'
import type { ParamReader } from '../params.ts'
import { readParams } from '../read-params.ts'
import { listOf, NUMBER, TEXT } from '../schemas.ts'
import { EDGES } from '../tables.ts'
import { type Look, look, mustOwn, mustSee } from './look.ts'
import { deleteEdge, putEdge } from './rows.ts'

/** An alias, since an interface does not pass for JSON. */
export type Edge = {
  readonly id: number
  /** Ids of concepts. */
  readonly source: number
  readonly target: number
  readonly relation: string
  readonly weight: number
}

const NEW = {
  source: { ...NUMBER, description: 'From this concept' },
  target: { ...NUMBER, description: 'To this concept' },
  relation: { ...TEXT, description: 'Of which kind' },
  weight: { ...NUMBER, description: '0 or more' },
}

/** Edges that start at these concepts, by id; of those seen. One read, however many concepts there are. */
export function edgesFrom(reader: StoreReader, { concepts }: Look, sources: readonly number[]): readonly Edge[] {
  const entries = sources.flatMap(id => concepts.byId(id)?.entry ?? [])
  return edgesIn(reader.table(EDGES).scan({}, { entries }), { concepts })
}

const create: Handler = {
  path: '/mind/edges/create',
  summary: 'Link two concepts',
  effect: 'write',
  params: NEW,
  async run(call, params) {
    const draft = readParams(call, ['mind'], params, readNew)
    const [result] = await createAll(call, [draft], () => [])
    return { result: result as Edge }
  },
}

const createMany: Handler = {
  path: '/mind/edges/create-many',
  summary: 'Link concepts, all of these or none',
  effect: 'write',
  params: { edges: { ...listOf(NEW), description: 'All of them are added, or none' } },
  async run(call, params) {
    const drafts = readParams(call, ['mind'], params, reader => reader.list('edges', readNew))
    const edges = await createAll(call, drafts, at => ['edges', String(at)])
    return { result: { edges, total: edges.length } }
  },
}

const get: Handler = {
  path: '/mind/edges/get',
  summary: 'Read a link',
  effect: 'read',
  params: { id: { ...NUMBER, description: 'Id of the link' } },
  run(call, params) {
    const id = readParams(call, ['mind'], params, reader => reader.id('id'))
    return { result: mustSeeEdge(call.host.store, look(call), id) }
  },
}

const list: Handler = {
  path: '/mind/edges/list',
  summary: 'List links by id, of one source, target or relation if named',
  effect: 'read',
  params: {
    source: { ...NUMBER, description: 'From this concept' },
    target: { ...NUMBER, description: 'To this concept' },
    relation: { ...TEXT, description: 'Of this kind' },
  },
  run(call, params) {
    const wanted = readParams(call, ['mind'], params, reader => ({
      source: reader.optionalId('source'),
      target: reader.optionalId('target'),
      relation: reader.optionalText('relation'),
    }))
    const where = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null)) as Row
    const edges = edgesIn(call.host.store.table(EDGES).scan(where), look(call))
    return { result: { edges, total: edges.length } }
  },
}

const update: Handler = {
  path: '/mind/edges/update',
  summary: 'Change the relation or the weight of a link',
  effect: 'write',
  params: {
    id: { ...NUMBER, description: 'Id of the link' },
    relation: { ...TEXT, description: 'Another kind' },
    weight: { ...NUMBER, description: '0 or more' },
  },
  async run(call, params) {
    const { id, relation, weight } = readParams(call, ['mind'], params, reader => ({
      id: reader.id('id'),
      relation: reader.optionalText('relation'),
      weight: reader.has('weight') ? reader.weight('weight', 0) : null,
    }))
    const { store, clock } = call.host
    const edge = await store.writeWhenFree(clock.now(), writer => {
      const seen = look(call)
      const before = mustSeeEdge(writer, seen, id)
      const source = mustOwn(call, seen, before.source)
      const changed = { ...before, relation: relation ?? before.relation, weight: weight ?? before.weight }
      putEdge(writer, { ...changed, source, target: mustSee(seen, before.target) }, id)
      return changed
    })
    return { result: edge }
  },
}

const remove: Handler = {
  path: '/mind/edges/delete',
  summary: 'Delete a link',
  effect: 'destroy',
  params: { id: { ...NUMBER, description: 'Id of the link' } },
  async run(call, params) {
    const id = readParams(call, ['mind'], params, reader => reader.id('id'))
    const { store, clock } = call.host
    await store.writeWhenFree(clock.now(), writer => {
      const seen = look(call)
      const { source } = mustSeeEdge(writer, seen, id)
      deleteEdge(writer, id, mustOwn(call, seen, source).entry)
    })
    return { result: { id, deleted: true } }
  },
}

export const EDGE_HANDLERS: readonly Handler[] = [create, createMany, get, list, update, remove]

function readNew(reader: ParamReader): Omit<Edge, 'id'> {
  return {
    source: reader.id('source'),
    target: reader.id('target'),
    relation: reader.text('relation'),
    weight: reader.weight('weight', 1),
  }
}

async function createAll(
  call: Call,
  drafts: readonly Omit<Edge, 'id'>[],
  placeOf: (at: number) => readonly string[],
): Promise<readonly Edge[]> {
  const { store, clock } = call.host
  return store.writeWhenFree(clock.now(), writer => {
    const seen = look(call)
    const errors: ErrorMap[] = []
    const made = drafts.map((draft, at) => {
      const target = seen.concepts.byId(draft.target)
      if (target === undefined) errors.push(errorAt([...placeOf(at), 'target'], 'not_found', 'concept not found'))
      try {
        const source = mustOwn(call, seen, draft.source, [...placeOf(at), 'source'])
        return { id: target === undefined ? 0 : putEdge(writer, { ...draft, source, target }), ...draft }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        errors.push(error.errors)
        return { id: 0, ...draft }
      }
    })
    if (errors.length > 0) throw new Refusal(joined(errors))
    return made
  })
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
