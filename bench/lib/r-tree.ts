/**
 * SQLite's R*Tree as a point index, to compare with. It keeps boxes of 32-bit floats, rounded outwards, and cannot ask
 * for the nearest; so boxes around the question grow until enough exact distances lie within. Exact coordinates lie in
 * the same rows.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'

type Point = readonly [number, number, number]

export interface Near {
  readonly id: number
  readonly distance: number
}

const FIRST_RADIUS = 4
const GROWTH = 1.6

export class RTree {
  readonly #db = new DatabaseSync(':memory:')
  readonly #inBox: StatementSync

  constructor(points: Iterable<readonly [id: number, point: Point]>) {
    this.#db.exec('create virtual table points using rtree(id, l0, l1, a0, a1, b0, b1, +l, +a, +b)')
    const insert = this.#db.prepare('insert into points values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#db.exec('begin')
    for (const [id, [l, a, b]] of points) insert.run(id, l, l, a, a, b, b, l, a, b)
    this.#db.exec('commit')
    this.#inBox = this.#db.prepare(
      `select id, l, a, b from points
       where l1 >= ? and l0 <= ? and a1 >= ? and a0 <= ? and b1 >= ? and b0 <= ?`,
    )
    this.#inBox.setReturnArrays(true)
  }

  /** All within that distance, nearest first. */
  within([l, a, b]: Point, r: number): Near[] {
    const rows = this.#inBox.all(l - r, l + r, a - r, a + r, b - r, b + r) as unknown as [
      number,
      number,
      number,
      number,
    ][]
    return rows
      .map(([id, x, y, z]) => ({ id, distance: Math.sqrt((x - l) ** 2 + (y - a) ** 2 + (z - b) ** 2) }))
      .filter(({ distance }) => distance <= r)
      .sort((p, q) => p.distance - q.distance || p.id - q.id)
  }

  /** The k nearest that `allowed` lets through; ties beyond the k-th are left out. */
  nearest(point: Point, k: number, maxDistance = 1e6, allowed: (id: number) => boolean = () => true): Near[] {
    for (let radius = Math.min(FIRST_RADIUS, maxDistance); ; radius = Math.min(maxDistance, radius * GROWTH)) {
      const found = this.within(point, radius).filter(({ id }) => allowed(id))
      if (found.length >= k || radius >= maxDistance) return found.slice(0, k)
    }
  }

  close(): void {
    this.#db.close()
  }
}
