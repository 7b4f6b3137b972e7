/** Counts which rows of the columns of beliefs are looked at: each number that is read, each question about a row. */
import type { BeliefColumns } from '../../src/lenses/beliefs/columns/columns.ts'

export interface RowWork {
  /** By array or method: how often. */
  readonly counts: Map<string, number>
  /** Partitions of the rows whose numbers were read. */
  readonly partitions: Set<number>
}

type Numbers = Record<string, Int32Array | Float64Array | Uint8Array | Uint32Array>
/** The columns' own upkeep, done once for each row that is written. */
const UPKEEP: ReadonlySet<string> = new Set(['constructor', 'refresh'])

/** From now on. Whatever keeps these columns is counted, since they stay the same object. */
export function countRows(columns: BeliefColumns): RowWork {
  const work: RowWork = { counts: new Map(), partitions: new Set() }
  const count = (name: string, by = 1): void => {
    work.counts.set(name, (work.counts.get(name) ?? 0) + by)
  }
  const prototype = Object.getPrototypeOf(columns) as object
  const members = Object.entries(Object.getOwnPropertyDescriptors(prototype))
  for (const [name, { value }] of members) {
    if (typeof value !== 'function' || UPKEEP.has(name)) continue
    const counted = (...given: unknown[]): unknown => {
      const result: unknown = value.apply(columns, given)
      count(name)
      if (ArrayBuffer.isView(result)) count(`${name} gives`, (result as Int32Array).length)
      return result
    }
    Object.defineProperty(columns, name, { value: counted, configurable: true })
  }
  const arraysOf = Object.getOwnPropertyDescriptor(prototype, 'arrays')?.get
  if (arraysOf === undefined) throw new Error('the columns have no arrays to count')
  const read = (name: string, numbers: Numbers, at: number): void => {
    count(name)
    const { partitions, entries } = numbers as { partitions: Int32Array; entries: Int32Array }
    const width = (numbers[name] as Int32Array).length / entries.length
    work.partitions.add(partitions[Math.floor(at / width)] as number)
  }
  Object.defineProperty(columns, 'arrays', {
    configurable: true,
    get: () => {
      const numbers = arraysOf.call(columns) as Numbers
      const entries = Object.keys(numbers).map(name => [name, watched(numbers, name, read)])
      return Object.fromEntries(entries) as unknown
    },
  })
  return work
}

function watched(numbers: Numbers, name: string, read: (name: string, numbers: Numbers, at: number) => void): object {
  return new Proxy(numbers[name] as object, {
    get(from, key) {
      const at = typeof key === 'string' && /^\d+$/.test(key) ? Number(key) : -1
      if (at >= 0) read(name, numbers, at)
      const member: unknown = Reflect.get(from, key, from)
      if (typeof member !== 'function') return member
      // A whole array that is taken is every row of it.
      return (...given: unknown[]) => {
        for (let row = 0; row < (from as Int32Array).length; row++) read(name, numbers, row)
        return (member as (...all: unknown[]) => unknown).apply(from, given)
      }
    },
  })
}
