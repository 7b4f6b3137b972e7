/**
 * As much of Qdrant's HTTP interface as querent speaks, over plain maps with exact search: for machines without a Qdrant.
 * It refuses what a real one refuses that a test could get wrong: unknown collections, wrong sizes, wrong ids.
 */
import { type Loopback, type LoopbackRequest, sendJson, startLoopback } from './loopback.ts'

interface Point {
  readonly id: string | number
  readonly vector: readonly number[]
  readonly payload: Readonly<Record<string, unknown>>
}

interface Stored {
  readonly size: number
  readonly distance: string
  readonly metadata?: unknown
  readonly points: Map<string | number, Point>
}

type Body = Readonly<Record<string, unknown>>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface FakeQdrant extends Loopback {
  readonly collections: Map<string, Stored>
}

export interface FakeQdrantOptions {
  /** Of version 1: before 1.10 there is no `points/query`, before 1.16 collections keep no metadata, from 1.18 on no `points/search`. */
  readonly minor?: number | undefined
}

export async function startFakeQdrant({ minor = 16 }: FakeQdrantOptions = {}): Promise<FakeQdrant> {
  const collections = new Map<string, Stored>()
  const loopback = await startLoopback((request, response) => {
    const { status, body } = answer(request, collections, minor)
    sendJson(response, status, body)
  })
  return Object.assign(loopback, { collections })
}

interface Reply {
  readonly status: number
  readonly body: object
}

function answer({ method, path, body }: LoopbackRequest, collections: Map<string, Stored>, minor: number): Reply {
  const [, , name = '', ...rest] = (path.split('?')[0] ?? '').split('/').map(decodeURIComponent)
  const given = (body === '' ? {} : JSON.parse(body)) as Body
  const action = `${method} ${rest.join('/')}`
  const found = collections.get(name)
  const ok = (result: unknown): Reply => ({ status: 200, body: { result, status: 'ok', time: 0 } })
  const refuse = (status: number, error: string): Reply => ({ status, body: { status: { error }, time: 0 } })
  if (method === 'GET' && name === '') return ok({ collections: [...collections.keys()].map(one => ({ name: one })) })
  if (action === 'DELETE ') return ok(collections.delete(name))
  if (action === 'GET exists') return ok({ exists: found !== undefined })
  if (action === 'PUT ') {
    const { size, distance } = given['vectors'] as { size: number; distance: string }
    const metadata = minor < 16 ? undefined : given['metadata']
    collections.set(name, { size, distance, metadata, points: new Map() })
    return ok(true)
  }
  if (found === undefined) return refuse(404, `Not found: Collection \`${name}\` doesn't exist!`)
  switch (action) {
    case 'GET ':
      return ok({
        config: { params: { vectors: { size: found.size, distance: found.distance } }, metadata: found.metadata },
      })
    case 'PUT index':
      return ok({ status: 'completed' })
    case 'PUT points': {
      const points = given['points'] as readonly Point[]
      if (points.some(({ id }) => typeof id === 'string' && !UUID.test(id))) return refuse(400, 'not a valid point ID')
      for (const point of points) found.points.set(point.id, point)
      return ok({ status: 'completed' })
    }
    case 'POST points/delete':
      for (const id of given['points'] as readonly string[]) found.points.delete(id)
      return ok({ status: 'completed' })
    case 'POST points/scroll': {
      const all = [...found.points.values()].filter(point => fulfils(point, given['filter'] as Body | undefined))
      return ok({ points: all.map(({ id, payload }) => ({ id, payload })), next_page_offset: null })
    }
    case 'POST points/query':
    case 'POST points/search': {
      const isQuery = action === 'POST points/query'
      if (isQuery ? minor < 10 : minor >= 18) return { status: 404, body: {} }
      const vector = given[isQuery ? 'query' : 'vector'] as readonly number[]
      if (vector.length !== found.size) {
        return refuse(400, `Wrong input: Vector dimension error: expected dim: ${found.size}, got ${vector.length}`)
      }
      const points = nearest(found, vector, given['filter'] as Body | undefined).slice(0, given['limit'] as number)
      return ok(isQuery ? { points } : points)
    }
    default:
      // As the real one does for addresses that are none of its own: no body in its words.
      return { status: 404, body: {} }
  }
}

function nearest({ points, distance }: Stored, vector: readonly number[], filter: Body | undefined): readonly object[] {
  const isEuclid = distance === 'Euclid'
  return [...points.values()]
    .filter(point => fulfils(point, filter))
    .map(({ id, vector: stored, payload }) => ({
      ...{ id, version: 0, payload },
      score: isEuclid
        ? Math.hypot(...stored.map((value, at) => value - (vector[at] ?? 0)))
        : stored.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0),
    }))
    .sort((a, b) => (isEuclid ? a.score - b.score : b.score - a.score))
}

function fulfils({ payload }: Point, filter: Body | undefined): boolean {
  const { must = [], should = [] } = (filter ?? {}) as { must?: readonly Body[]; should?: readonly Body[] }
  const holds = (condition: Body): boolean => {
    const found = payload[String(condition['key'])]
    const values: readonly unknown[] = Array.isArray(found) ? found : [found]
    const { value, any } = (condition['match'] ?? {}) as { value?: unknown; any?: readonly unknown[] }
    const { gte, lt } = (condition['range'] ?? {}) as { gte?: number; lt?: number }
    return values.some(one => {
      if (condition['match'] !== undefined) return any === undefined ? one === value : any.includes(one)
      return typeof one === 'number' && (gte === undefined || one >= gte) && (lt === undefined || one < lt)
    })
  }
  return must.every(holds) && (should.length === 0 || should.some(holds))
}
